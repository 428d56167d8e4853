/** The statements that compare vectors, or fetch them to be compared. */
import sql, { type Sql } from "sql-template-tag";
import type { Queryable } from "tidemark";
import type { Generation } from "./generation-rows.ts";
import type { MatrixRow, Near } from "./matrix-store.ts";

/** Whether the database itself can compare vectors. */
export async function hasPgvector(read: Queryable): Promise<boolean> {
  const { rows } = await read.query(sql`select 1 as one from pg_extension where extname = 'vector'`);
  return rows.length > 0;
}

export async function readNow(read: Queryable): Promise<number> {
  const { rows } = await read.query<{ ms: number }>(
    sql`select extract(epoch from tidemark.now())::float8 * 1000 as ms`,
  );
  return rows[0]!.ms;
}

/** Every one that fits the conditions is compared: exact, whatever they leave over. */
export async function compareAll(
  read: Queryable,
  { generation, tokens_most }: Generation,
  vector: Float32Array,
  conditions: Sql,
  most: number,
): Promise<Near[]> {
  const { rows } = await read.query<Near>(sql`
    select i.resource_id, i.number, max(1 - (v.vector::vector <=> ${`[${vector.join(",")}]`}::vector))::float8 as similarity
      from github_issues.issue i
      join github_issues.repository r on r.resource_id = i.resource_id
      join github_issues.passage p on p.resource_id = i.resource_id and p.number = i.number and p.tokens_most = ${tokens_most}::int
      join github_issues.vector v on v.generation = ${generation}::int and v.hash = p.hash
     where ${conditions}
     group by i.resource_id, i.number
     order by similarity desc, i.resource_id, i.number limit ${most}::int`);
  return rows;
}

/** Whether a generation has more vectors than that. */
export async function isLarger(read: Queryable, generation: number, than: number): Promise<boolean> {
  const { rows } = await read.query<{ larger: boolean }>(sql`
    select count(*) > ${than}::int as larger
      from (select 1 from github_issues.vector where generation = ${generation}::int limit ${than + 1}::int) few`);
  return rows[0]!.larger;
}

/** The issues that fit the conditions, up to a bound; null where there are more. */
export async function readAllowed(
  read: Queryable,
  conditions: Sql,
  most: number,
): Promise<{ resource_id: bigint; number: number }[] | null> {
  const { rows } = await read.query<{ resource_id: bigint; number: number }>(sql`
    select i.resource_id, i.number from github_issues.issue i join github_issues.repository r on r.resource_id = i.resource_id
     where ${conditions} limit ${most + 1}::int`);
  return rows.length > most ? null : rows;
}

/** Of these issues, those that are there and fit the conditions, in their order. */
export async function keepFitting(read: Queryable, these: Near[], conditions: Sql, most: number): Promise<Near[]> {
  const { rows } = await read.query<{ n: number }>(sql`
    select t.n::int as n
      from unnest(${these.map((t) => t.resource_id)}::bigint[], ${these.map((t) => t.number)}::int[]) with ordinality as t(resource_id, number, n)
      join github_issues.issue i on i.resource_id = t.resource_id and i.number = t.number
      join github_issues.repository r on r.resource_id = i.resource_id
     where ${conditions} order by t.n limit ${most}::int`);
  return rows.map(({ n }) => these[n - 1]!);
}

type CodeRow = MatrixRow & { code: Uint8Array };

/** In the order of their names, for reading all of them a page at a time. */
export async function readCodes(
  read: Queryable,
  { generation, tokens_most }: Generation,
  after: { resource_id: bigint; number: number; part: number },
  most: number,
): Promise<CodeRow[]> {
  const { rows } = await read.query<CodeRow>(sql`
    select p.resource_id, p.number, p.part, v.code
      from github_issues.passage p join github_issues.vector v on v.generation = ${generation}::int and v.hash = p.hash
     where p.tokens_most = ${tokens_most}::int
       and (p.resource_id, p.number, p.tokens_most, p.part) > (${after.resource_id}::bigint, ${after.number}::int, ${tokens_most}::int, ${after.part}::int)
     order by p.resource_id, p.number, p.part limit ${most}::int`);
  return rows;
}

/** Texts or vectors that were written since. */
export async function readNewCodes(
  read: Queryable,
  { generation, tokens_most }: Generation,
  since: string,
): Promise<CodeRow[]> {
  const { rows } = await read.query<CodeRow>(sql`
    select p.resource_id, p.number, p.part, v.code
      from github_issues.passage p join github_issues.vector v on v.generation = ${generation}::int and v.hash = p.hash
     where p.tokens_most = ${tokens_most}::int and p.written_at > ${since}::timestamptz
    union all
    select p.resource_id, p.number, p.part, v.code
      from github_issues.vector v join github_issues.passage p on p.tokens_most = ${tokens_most}::int and p.hash = v.hash
     where v.generation = ${generation}::int and v.written_at > ${since}::timestamptz`);
  return rows;
}

/** The vectors of an issue, that of its beginning first. */
export async function readVectors(
  read: Queryable,
  { generation, tokens_most }: Generation,
  resource_id: bigint,
  number: number,
): Promise<Float32Array[]> {
  const { rows } = await read.query<{ vector: number[] }>(sql`
    select v.vector from github_issues.passage p join github_issues.vector v on v.generation = ${generation}::int and v.hash = p.hash
     where p.resource_id = ${resource_id}::bigint and p.number = ${number}::int and p.tokens_most = ${tokens_most}::int order by p.part`);
  return rows.map((row) => Float32Array.from(row.vector));
}
