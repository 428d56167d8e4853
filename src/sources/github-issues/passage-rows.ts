/** The statements on what is to be embedded: passages, what they say, and which of them have no vector yet. */
import sql, { type Sql } from "sql-template-tag";
import type { Queryable, Tx } from "tidemark";
import { ensureGeneration } from "./generation-rows.ts";
import type { Passage, TextLimits } from "./text.ts";

export interface PassageRow extends Passage {
  resource_id: bigint;
  number: number;
  tokens_most: number;
}

/**
 * Writes what issues say: parts that they no longer have go, those that say something else are put, and what has no vector is put down to get
 * one. An issue that was written anew in the meantime keeps what it says by then.
 */
export async function notePassages(
  tx: Tx,
  resource_id: bigint,
  { model, tokens_most }: Pick<TextLimits, "model" | "tokens_most">,
  found: { number: number; updated_at: string }[],
  rows: PassageRow[],
): Promise<void> {
  await ensureGeneration(tx, model, tokens_most);
  const current = sql`
    select f.number from unnest(${found.map((f) => f.number)}::int[], ${found.map((f) => f.updated_at)}::timestamptz[]) as f(number, updated_at)
      join github_issues.issue i on i.resource_id = ${resource_id}::bigint and i.number = f.number and i.updated_at = f.updated_at`;
  await tx.query(sql`
    delete from github_issues.passage p
     where p.resource_id = ${resource_id}::bigint and p.tokens_most = ${tokens_most}::int and p.number = any(array(${current}))
       and not exists (select 1 from unnest(${rows.map((r) => r.number)}::int[], ${rows.map((r) => r.part)}::int[]) as r(number, part)
                        where r.number = p.number and r.part = p.part)`);
  await tx.query(sql`
    insert into github_issues.passage as p (resource_id, number, tokens_most, part, hash, tokens, text)
    select ${resource_id}::bigint, r.number, ${tokens_most}::int, r.part, r.hash, r.tokens, r.text
      from unnest(${rows.map((r) => r.number)}::int[], ${rows.map((r) => r.part)}::int[], ${rows.map((r) => r.hash)}::text[],
                  ${rows.map((r) => r.tokens)}::int[], ${rows.map((r) => r.text)}::text[]) as r(number, part, hash, tokens, text)
     where r.number = any(array(${current}))
     order by r.number, r.part
    on conflict (resource_id, number, tokens_most, part) do update
       set hash = excluded.hash, tokens = excluded.tokens, text = excluded.text, written_at = tidemark.now()
     where p.hash <> excluded.hash`);
  await noteUnembedded(tx, resource_id, tokens_most, [...new Set(rows.map((r) => r.hash))]);
}

/** Of these texts, those without a vector of a generation that is built or used. */
function noteUnembedded(tx: Tx, resource_id: bigint, tokens_most: number, hashes: string[]): Promise<unknown> {
  return noteWhere(tx, tokens_most, resource_id, sql`p.hash = any(${hashes}::text[])`);
}

/** The same for the texts of these issues, which were there before the generation was. */
export async function noteOld(tx: Tx, resource_id: bigint, tokens_most: number, numbers: number[]): Promise<void> {
  await noteWhere(tx, tokens_most, resource_id, sql`p.number = any(${numbers}::int[])`);
}

function noteWhere(tx: Tx, tokens_most: number, resource_id: bigint, these: Sql): Promise<unknown> {
  return tx.query(sql`
    insert into github_issues.unembedded (generation, hash, resource_id, number, tokens)
    select distinct on (g.generation, p.hash) g.generation, p.hash, p.resource_id, p.number, p.tokens
      from github_issues.passage p
      join github_issues.generation g on g.tokens_most = p.tokens_most and g.retired_at is null
     where p.resource_id = ${resource_id}::bigint and p.tokens_most = ${tokens_most}::int and ${these}
       and not exists (select 1 from github_issues.vector v where v.generation = g.generation and v.hash = p.hash)
     order by g.generation, p.hash, p.number
    on conflict (generation, hash) do nothing`);
}

export interface Wanted {
  hash: string;
  text: string | null;
  tokens: number;
  tries: number;
  resource_id: bigint;
  initialised: boolean;
}

/** What to embed next: what people wait for first, which are repositories that are in use already. */
export async function readWanted(read: Queryable, generation: number, most: number): Promise<Wanted[]> {
  const { rows } = await read.query<Wanted>(sql`
    select u.hash, u.tokens, u.tries, u.resource_id, r.initialised_at is not null as initialised,
           (select p.text from github_issues.passage p where p.hash = u.hash limit 1) as text
      from (select hash, tokens, tries, resource_id, number from github_issues.unembedded
             where generation = ${generation}::int and retry_at <= (select tidemark.now())
             order by retry_at, resource_id, number limit ${most}::int) u
      left join github_issues.repository r on r.resource_id = u.resource_id
     order by r.initialised_at is null, u.tries, u.resource_id, u.hash`);
  return rows;
}

/** Those are done, or nobody says them any more. */
export async function forgetUnembedded(tx: Tx, generation: number, hashes: string[]): Promise<void> {
  await tx.query(sql`
    delete from github_issues.unembedded where generation = ${generation}::int and hash = any(${hashes}::text[])`);
}

export interface Failed {
  hash: string;
  reason: string;
  wait_ms: number;
}

/** They are tried again later, ever more rarely. */
export async function noteFailed(tx: Tx, generation: number, failed: Failed[]): Promise<void> {
  await tx.query(sql`
    update github_issues.unembedded u
       set tries = u.tries + 1, reason = f.reason, retry_at = tidemark.now() + f.wait_ms * interval '1 millisecond'
      from unnest(${failed.map((f) => f.hash)}::text[], ${failed.map((f) => f.reason)}::text[], ${failed.map((f) => f.wait_ms)}::float8[]) as f(hash, reason, wait_ms)
     where u.generation = ${generation}::int and u.hash = f.hash`);
}

export interface Spoken {
  resource_id: bigint;
  number: number;
  title: string;
  body: string;
  updated_at: string;
  /** It has its texts already. */
  written: boolean;
  comments: { body: string; association: string | null; created_at: string }[];
}

/** Issues with what is said in them, in the order of their names: for texts that have to be made of what is mirrored already. */
export async function readSpoken(
  read: Queryable,
  tokens_most: number,
  after: { resource_id: string; number: number },
  comments_most: number,
  most: number,
): Promise<Spoken[]> {
  const { rows } = await read.query<Spoken>(sql`
    select i.resource_id, i.number, i.title, i.body, i.updated_at,
           exists (select 1 from github_issues.passage p
                    where p.resource_id = i.resource_id and p.number = i.number and p.tokens_most = ${tokens_most}::int) as written,
           coalesce((select jsonb_agg(jsonb_build_object('body', c.body, 'association', c.association, 'created_at', c.created_at) order by c.created_at, c.comment_id)
                       from (select body, association, created_at, comment_id from github_issues.comment c
                              where c.resource_id = i.resource_id and c.number = i.number
                              order by created_at, comment_id limit ${comments_most}::int) c), '[]'::jsonb) as comments
      from github_issues.issue i
     where (i.resource_id, i.number) > (${after.resource_id}::bigint, ${after.number}::int)
     order by i.resource_id, i.number limit ${most}::int`);
  return rows;
}
