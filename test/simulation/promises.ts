/** The engine's promises as one query that finds breaches, and what must be true once everything is calm. */
import sql from "sql-template-tag";
import type { Queryable } from "tidemark";

/** Breaches of the promises that must hold at any moment. */
export async function breaches(db: Queryable, silent: boolean): Promise<string[]> {
  const { rows } = await db.query<{ what: string }>(sql`
    select what from sim.breach
    union all
    select 'P2: event ' || stream || ' ' || n || ' was applied ' || times || ' times' from sim.applied where times > 1
    union all
    select 'P3: ' || box || ' handled ' || n || ' after ' || before
      from (select box, n, lag(n) over (partition by box order by ordinal) as before from sim.handled) h where n <= before
    union all
    select 'P4: tidemark ' || t.position || ' of ' || r.key || ' passes unhandled ' || p.n
      from tidemark.tidemark t
      join tidemark.resource r on r.resource_id = t.resource_id
      join sim.posted p on p.stream = r.key and p.position <= t.position
     where not exists (select 1 from sim.handled h where h.box = p.box and (h.n = p.n or (p.coalesced and h.n >= p.n)))
    union all
    select 'P4: tidemark of ' || t.resource_id || ' went back from ' || m.position || ' to ' || t.position
      from tidemark.tidemark t join sim.mark m on m.resource_id = t.resource_id and t.position < m.position
    union all
    select 'P6: a lease ended more than a second ago and nobody noticed'
      from tidemark.due where not ${silent} and lease_until < tidemark.now() - interval '1 second'
    union all
    select 'P6: the lease of ' || d.resource_id || ' is on no list, so nobody would miss its holder'
      from tidemark.due d
     where d.lease_until is not null and not exists (select 1 from tidemark.lease l where l.resource_id = d.resource_id)
    union all
    select 'P7: two entries with one stamp ' || published_at from sim.entry group by published_at having count(n) > 1
    union all
    select 'lane: more than two boxes leased at once'
      from tidemark.due d join tidemark.lane l on l.lane_id = d.lane_id
     where l.name = 'box' and d.lease_until > tidemark.now() having count(d.resource_id) > 2`);
  await db.query(sql`
    insert into sim.mark (resource_id, position) select resource_id, position from tidemark.tidemark
    on conflict (resource_id) do update set position = excluded.position`);
  return rows.map((r) => r.what);
}

/** What is still open; empty once everything was mirrored and handled. */
export async function unfinished(db: Queryable, lengths: Map<string, number>): Promise<string[]> {
  const open: string[] = [];
  for (const [stream, length] of lengths) {
    const { rows } = await db.query<{
      applied: number;
      entries: number;
      posted: number;
      handled: number;
      internal: bigint;
      position: bigint;
    }>(sql`
      select (select count(n)::int from sim.applied where stream = ${stream}) as applied,
             (select count(n)::int from sim.entry where stream = ${stream}) as entries,
             (select count(n)::int from sim.posted where stream = ${stream}) as posted,
             (select count(p.n)::int from sim.posted p where p.stream = ${stream}
                 and exists (select 1 from sim.handled h where h.box = p.box and (h.n = p.n or (p.coalesced and h.n >= p.n)))) as handled,
             t.internal, t.position
        from tidemark.resource r join tidemark.tidemark t on t.resource_id = r.resource_id where r.key = ${stream}`);
    const row = rows[0];
    if (!row) open.push(`${stream} was never pulled`);
    else if (row.applied !== length || row.entries !== length || row.posted !== length)
      open.push(`${stream}: ${row.applied} applied, ${row.entries} published, ${row.posted} posted of ${length}`);
    else if (row.handled !== length) open.push(`${stream}: ${row.handled} of ${length} messages handled`);
    else if (row.position !== row.internal)
      open.push(`${stream}: tidemark ${row.position} stands before ${row.internal}`);
  }
  return open;
}
