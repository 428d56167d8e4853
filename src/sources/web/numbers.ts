/** Numbers of domain64 and the partitions they lead to: given once, when a host or domain is followed, and never again to another. */
import sql, { raw } from "sql-template-tag";
import { type Db, type Queryable, TidemarkError, type Tx } from "tidemark";
import { NUMBER_MOST, partitionOf, TLD_MOST } from "./domain64.ts";
import type { Entry } from "./domain64-file.ts";
import type { HostParts } from "./names.ts";

/** Makes sure that a domain has its numbers and its partition; `entries` are those that people keep in a file. */
export async function prepareDomain(db: Db, { tld, domain }: HostParts, entries: Entry[]): Promise<void> {
  await db.transaction(async (tx) => {
    // One at a time: the next free number is looked for.
    await tx.query(sql`select pg_advisory_xact_lock(hashtext('tidemark web numbers'))::text as locked`);
    await loadEntries(tx, entries);
    const tld_id = await numberOfTld(tx, tld);
    const domain_no = await numberOfDomain(tx, tld_id, tld, domain);
    await makePartition(tx, tld_id, domain_no);
  });
}

const retired = (name: string): TidemarkError =>
  new TidemarkError(
    "InputInvalid",
    `${name} is retired: its number in domain64 is kept and nothing is crawled under it. Take "retired" out of the file to follow it.`,
  );

async function numberOfTld(tx: Tx, tld: string): Promise<number> {
  const { rows } = await tx.query<{ tld_id: number; retired: boolean }>(
    sql`select tld_id::int as tld_id, retired from web.tld where tld = ${tld}`,
  );
  if (rows[0]?.retired) throw retired(tld);
  if (rows[0]) return rows[0].tld_id;
  const next = await nextFree(tx, sql`select max(tld_id)::int as most from web.tld`);
  if (next > TLD_MOST)
    throw new TidemarkError("InputInvalid", `domain64 has room for ${TLD_MOST} top-level domains, and all are taken.`);
  await tx.query(sql`insert into web.tld (tld_id, tld) values (${next}::int, ${tld})`);
  return next;
}

async function numberOfDomain(tx: Tx, tld_id: number, tld: string, domain: string): Promise<number> {
  const { rows } = await tx.query<{ domain_no: number; retired: boolean }>(
    sql`select domain_no, retired from web.domain where tld_id = ${tld_id}::int and domain = ${domain}`,
  );
  if (rows[0]?.retired) throw retired(`${domain}.${tld}`);
  if (rows[0]) return rows[0].domain_no;
  const next = await nextFree(tx, sql`select max(domain_no) as most from web.domain where tld_id = ${tld_id}::int`);
  if (next > NUMBER_MOST)
    throw new TidemarkError(
      "InputInvalid",
      `domain64 has room for ${NUMBER_MOST} domains under ${tld}; all are taken.`,
    );
  await tx.query(
    sql`insert into web.domain (tld_id, domain_no, domain) values (${tld_id}::int, ${next}::int, ${domain})`,
  );
  return next;
}

/** Above all that were ever given, the retired ones too. */
async function nextFree(tx: Tx, statement: ReturnType<typeof sql>): Promise<number> {
  const { rows } = await tx.query<{ most: number | null }>(statement);
  return (rows[0]?.most ?? 0) + 1;
}

/** Attached rather than made in its place: searches go on meanwhile. */
async function makePartition(tx: Tx, tld_id: number, domain_no: number): Promise<void> {
  const { name, from, until } = partitionOf(tld_id, domain_no);
  const { count } = await tx.query(sql`
    insert into web.partition (name, tld_id, from_no, until_no)
    values (${name}, ${tld_id}::int, ${from}::bigint, ${until}::bigint) on conflict (name) do nothing`);
  if (count === 0) return;
  await tx.query(raw(`create table web.${name} (like web.search including defaults)`));
  await tx.query(
    raw(`alter table web.search attach partition web.${name} for values from (${from}) to (${until ?? "maxvalue"})`),
  );
}

/** Puts the numbers of the file into the tables; where another name has one already, the file has to give way. */
async function loadEntries(tx: Tx, entries: Entry[]): Promise<void> {
  const column = <K extends keyof Entry>(name: K) => entries.map((entry) => entry[name]);
  const rows = sql`unnest(${column("tld_id")}::int[], ${column("domain_no")}::int[], ${column("subdomain_no")}::int[],
                          ${column("name")}::text[], ${column("retired")}::boolean[]) as e(tld_id, domain_no, subdomain_no, name, retired)`;
  await tx.query(sql`
    insert into web.tld (tld_id, tld, retired) select e.tld_id, e.name, e.retired from ${rows} where e.domain_no is null on conflict do nothing`);
  await tx.query(sql`
    insert into web.domain (tld_id, domain_no, domain, retired)
    select e.tld_id, e.domain_no, e.name, e.retired from ${rows} where e.domain_no is not null and e.subdomain_no is null on conflict do nothing`);
  await tx.query(sql`
    insert into web.subdomain (tld_id, domain_no, subdomain_no, subdomain, retired)
    select e.tld_id, e.domain_no, e.subdomain_no, e.name, e.retired from ${rows} where e.subdomain_no is not null on conflict do nothing`);
  await tx.query(sql`
    update web.tld t set retired = e.retired from ${rows} where e.domain_no is null and t.tld_id = e.tld_id and t.tld = e.name and t.retired <> e.retired`);
  await tx.query(sql`
    update web.domain d set retired = e.retired from ${rows}
     where e.subdomain_no is null and d.tld_id = e.tld_id and d.domain_no = e.domain_no and d.domain = e.name and d.retired <> e.retired`);
  const { rows: odd } = await tx.query<{ name: string; number: number }>(sql`
    select e.name, coalesce(e.subdomain_no, e.domain_no, e.tld_id) as number from ${rows}
      left join web.tld t on e.domain_no is null and t.tld_id = e.tld_id and t.tld = e.name
      left join web.domain d on e.domain_no is not null and e.subdomain_no is null and (d.tld_id, d.domain_no, d.domain) = (e.tld_id, e.domain_no, e.name)
      left join web.subdomain s on e.subdomain_no is not null and (s.tld_id, s.domain_no, s.subdomain_no, s.subdomain) = (e.tld_id, e.domain_no, e.subdomain_no, e.name)
     where t.tld_id is null and d.domain_no is null and s.subdomain_no is null limit 1`);
  if (odd[0])
    throw new TidemarkError(
      "ConfigInvalid",
      `The file of domain64 gives ${odd[0].name} the number ${odd[0].number.toString(16)}, and that name or number is taken already. Numbers are never changed; /web/domain64 shows those that are given.`,
    );
}

interface Node {
  name: string;
  retired?: true;
  children?: Record<string, Node>;
}

/** All numbers as the file would have them. */
export async function readNumbers(read: Queryable): Promise<Record<string, unknown>> {
  const { rows } = await read.query<{
    tld_id: number;
    domain_no: number | null;
    subdomain_no: number | null;
    name: string;
    retired: boolean;
  }>(sql`
    select tld_id::int as tld_id, null::int as domain_no, null::int as subdomain_no, tld as name, retired from web.tld
    union all select tld_id::int, domain_no, null, domain, retired from web.domain
    union all select tld_id::int, domain_no, subdomain_no, subdomain, retired from web.subdomain
    order by 1, 2 nulls first, 3 nulls first`);
  const hex = (value: number, width: number) => value.toString(16).toUpperCase().padStart(width, "0");
  const tree: Record<string, Node> = {};
  const at = new Map<string, Node>();
  for (const { tld_id, domain_no, subdomain_no, name, retired: gone } of rows) {
    const node: Node = { name, ...(gone ? { retired: true as const } : {}) };
    at.set(`${tld_id}/${domain_no ?? ""}/${subdomain_no ?? ""}`, node);
    if (domain_no === null) tree[hex(tld_id, 2)] = node;
    else {
      const parent = at.get(`${tld_id}/${subdomain_no === null ? "" : domain_no}/`)!;
      parent.children ??= {};
      parent.children[hex(subdomain_no ?? domain_no, 6)] = node;
    }
  }
  return tree;
}
