/** What the mirror has of a repository, in one question each. */
import sql from "sql-template-tag";
import type { Queryable } from "tidemark";
import type { Report } from "./report.ts";

export interface RepositoryRow {
  resource_id: bigint;
  state: string;
  reason: string | null;
  moved_to: string | null;
  head_oid: string | null;
  head_ref: string | null;
  head_at: string | null;
  fresh_at: string | null;
  changed_at: string | null;
  tried_at: string | null;
  gone_at: string | null;
  failures: number;
  parked_at: string | null;
  error: unknown;
  now: string;
  analysis: AnalysisRow | null;
}

export interface AnalysisRow {
  commit_oid: string;
  analyser: number;
  analysed_at: string;
  head_ref: string | null;
  pack_bytes: string;
  ms: number;
  report: Report;
}

const analysis = sql`
  json_build_object('commit_oid', a.commit_oid, 'analyser', a.analyser, 'analysed_at', a.analysed_at, 'head_ref', a.head_ref,
    'pack_bytes', a.pack_bytes::text, 'ms', a.ms, 'report', a.report)`;

/** Null where nobody ever asked for it. `commit` picks one analysis; the newest unless said. */
export async function readRepository(
  read: Queryable,
  key: string,
  commit: string | null,
): Promise<RepositoryRow | null> {
  const { rows } = await read.query<RepositoryRow>(sql`
    select s.resource_id, coalesce(r.state, 'new') as state, r.reason, r.moved_to, r.head_oid, r.head_ref, r.head_at,
           s.fresh_at, s.changed_at, s.tried_at, s.gone_at, s.failures::int as failures, s.parked_at, s.error, tidemark.now() as now,
           (select ${analysis} from repositories.analysis a
             where a.resource_id = s.resource_id and (${commit}::text is null or a.commit_oid = ${commit})
             order by a.analysed_at desc limit 1) as analysis
      from tidemark.status s left join repositories.repository r on r.resource_id = s.resource_id
     where s.source = 'repositories' and s.kind = 'repository' and s.key = ${key}`);
  return rows[0] ?? null;
}

export interface HistoryRow extends Omit<AnalysisRow, "report"> {
  tests: number;
  languages: { language: string; bytes: number }[];
}

const summary = sql`
  a.commit_oid, a.analyser, a.analysed_at, a.head_ref, a.pack_bytes::text as pack_bytes, a.ms,
  (a.report -> 'tests' ->> 'total_cases')::int as tests,
  (select coalesce(json_agg(json_build_object('language', l ->> 'language', 'bytes', (l ->> 'bytes')::bigint)), '[]')
     from (select l from jsonb_array_elements(a.report -> 'languages') l limit 3) l) as languages`;

/** The analyses that are kept of a repository, newest first. */
export async function readHistory(read: Queryable, resource_id: bigint): Promise<HistoryRow[]> {
  const { rows } = await read.query<HistoryRow>(sql`
    select ${summary} from repositories.analysis a where a.resource_id = ${resource_id}::bigint order by a.analysed_at desc`);
  return rows;
}

export interface RecentRow extends HistoryRow {
  repository: string;
  fresh_at: string | null;
}

/** Repositories by their newest analysis; `before` is where the page before ended. */
export async function readRecent(
  read: Queryable,
  before: { at: string; key: string },
  most: number,
): Promise<RecentRow[]> {
  const { rows } = await read.query<RecentRow>(sql`
    select r.key as repository, d.fresh_at, ${summary}
      from repositories.repository r
      join repositories.analysis a
        on a.resource_id = r.resource_id and a.commit_oid = r.commit_oid and a.analyser = r.analyser
      join tidemark.due d on d.resource_id = r.resource_id
     where r.state = 'seen' and r.analysed_at is not null
       and (r.analysed_at < ${before.at}::timestamptz or (r.analysed_at = ${before.at}::timestamptz and r.key > ${before.key}))
     order by r.analysed_at desc, r.key limit ${most}`);
  return rows;
}

/** First analyses that wait or are under way, counted up to a bound. */
export async function countWaiting(read: Queryable, most: number): Promise<number> {
  const { rows } = await read.query<{ n: number }>(sql`
    select count(*)::int as n from (
      select from tidemark.resource r
        join tidemark.due d on d.resource_id = r.resource_id
       where r.source = 'repositories' and r.gone_at is null and d.fresh_at is null limit ${most}) w`);
  return rows[0]?.n ?? 0;
}
