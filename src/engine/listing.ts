/** The resources that match a filter, a page at a time by their number, however many there are. */
import sql, { type Sql } from "sql-template-tag";
import type { Clock } from "../clock.ts";
import type { Queryable } from "../store/db.ts";

export const LIST_MOST = 500;
/** Resources looked at in one statement; about 0.1 s where none of them matches. */
const WINDOW = 50_000;
/** After this long a page is given out as it is, with where to go on. */
const PAGE_MS_MAX = 400;

export type StatusName = "waiting" | "due" | "leased" | "parked" | "paused" | "gone";
export const status_names: readonly StatusName[] = ["waiting", "due", "leased", "parked", "paused", "gone"];

export interface Filter {
  source?: string | undefined;
  kind?: string | undefined;
  status?: StatusName | undefined;
  /** A part of the key, or of the name among the options, where what a key stands for can be renamed. */
  q?: string | undefined;
}

export interface Listed {
  resource_id: bigint;
  source: string;
  kind: string;
  key: string;
  status: StatusName;
  due_at: string | null;
  fresh_at: string | null;
  tried_at: string | null;
  changed_at: string | null;
  followed: boolean;
  failures: number;
  reason: string | null;
  messages: bigint;
  progress_done: bigint | null;
  progress_total: bigint | null;
  options: Record<string, unknown> | null;
}

export interface Page {
  resources: Listed[];
  /** Give it as `after` to go on; null at the end. A page may be short, even empty, and not the last. */
  next: bigint | null;
}

/** Statuses that have an index of their own, which finds few among many without looking at the rest. */
const rare: Partial<Record<StatusName, Sql>> = {
  parked: sql`tidemark.resource r where r.parked_at is not null`,
  paused: sql`tidemark.resource r where r.paused_at is not null`,
  gone: sql`tidemark.resource r where r.gone_at is not null`,
  leased: sql`tidemark.lease d join tidemark.resource r on r.resource_id = d.resource_id where true`,
};

const everything = sql`tidemark.resource r where true`;

interface Window {
  resources: Listed[];
  looked_at: number;
  last: bigint | null;
}

/**
 * One bounded look: the next resources by number, and which of them match. What the wide row alone can say is asked first; the rest
 * is looked up one by one in order, so that a full page ends it (`offset 0` keeps the planner from joining the whole window).
 */
async function readWindow(db: Queryable, filter: Filter, after: bigint, most: number): Promise<Window> {
  const { source = null, kind = null, status = null, q = null } = filter;
  const from = (status && rare[status]) ?? everything;
  const { rows } = await db.query<Partial<Listed> & { seen: bigint; last: bigint | null }>(sql`
    with looked_at as materialized (
      select r.resource_id,
             (${kind}::text is null or r.kind = ${kind})
               and (${q}::text is null or strpos(lower(r.key), lower(${q})) > 0
                    or strpos(lower(coalesce(r.options ->> 'name', '')), lower(${q})) > 0) as hit
        from ${from} and r.resource_id > ${after}::bigint and (${source}::text is null or r.source = ${source})
       order by r.resource_id limit ${WINDOW}
    ), matched as (
      select s.resource_id, s.source, s.kind, s.key, s.status, s.due_at, s.fresh_at, s.tried_at, s.changed_at, s.followed, s.failures,
             s.reason, s.messages, s.progress_done, s.progress_total, s.options
        from (select resource_id from looked_at where hit order by resource_id) w
       cross join lateral (
         select v.resource_id, v.source, v.kind, v.key, v.status, nullif(v.due_at, 'infinity') as due_at, v.fresh_at, v.tried_at,
                v.changed_at, v.followed_at is not null as followed, v.failures::int as failures, v.reason, v.mail as messages,
                v.progress_done, v.progress_total, v.options
           from tidemark.status v
          where v.resource_id = w.resource_id and (${status}::text is null or v.status = ${status})
         offset 0) s
       limit ${most}
    )
    select m.resource_id, m.source, m.kind, m.key, m.status, m.due_at, m.fresh_at, m.tried_at, m.changed_at, m.followed,
           m.failures, m.reason, m.messages, m.progress_done, m.progress_total, m.options, n.seen, n.last
      from (select count(*) as seen, max(resource_id) as last from looked_at) n left join matched m on true
     order by m.resource_id`);
  const { seen, last } = rows[0]!;
  const resources = rows.flatMap(({ seen: _seen, last: _last, ...listed }) =>
    listed.resource_id == null ? [] : [listed as Listed],
  );
  return { resources, looked_at: Number(seen), last };
}

/** A page of at most `limit`; looks on for a while when little matches, and then says where to go on. */
export async function listResources(
  db: Queryable,
  clock: Clock,
  filter: Filter,
  after: bigint,
  limit: number,
): Promise<Page> {
  const most = Math.min(Math.max(1, limit), LIST_MOST);
  const begun = clock.elapsed_ms();
  const resources: Listed[] = [];
  let from = after;
  for (;;) {
    const window = await readWindow(db, filter, from, most - resources.length + 1);
    resources.push(...window.resources);
    if (resources.length > most) {
      const page = resources.slice(0, most);
      return { resources: page, next: page.at(-1)!.resource_id };
    }
    if (window.looked_at < WINDOW || window.last === null) return { resources, next: null };
    from = window.last;
    if (clock.elapsed_ms() - begun > PAGE_MS_MAX) return { resources, next: from };
  }
}

/** The resources of that very key, one a kind at most. Kinds are named so that the key is found through its index. */
export async function findByKey(db: Queryable, source: string, kinds: string[], key: string): Promise<Listed[]> {
  const { rows } = await db.query<Listed>(sql`
    select s.resource_id, s.source, s.kind, s.key, s.status, nullif(s.due_at, 'infinity') as due_at, s.fresh_at, s.tried_at,
           s.changed_at, s.followed_at is not null as followed, s.failures::int as failures, s.reason, s.mail as messages,
           s.progress_done, s.progress_total, s.options
      from tidemark.status s
     where s.source = ${source} and s.kind = any(${kinds}::text[]) and s.key = ${key}
     order by s.kind limit ${LIST_MOST}`);
  return rows;
}
