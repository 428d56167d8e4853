/** The statements on generations of vectors: one is built beside the other, and takes its place when it is whole. */
import sql from "sql-template-tag";
import { type Queryable, type Tx, table } from "tidemark";

export const vectors = table("github_issues.vector", {
  columns: { generation: "int", hash: "text", vector: "real[]", code: "bytea" },
  key: ["generation", "hash"],
});

export interface Generation {
  generation: number;
  model: string;
  tokens_most: number;
  dimensions: number | null;
  completed_at: string | null;
}

/** It is there before the first text is written for it. */
export async function ensureGeneration(tx: Tx, model: string, tokens_most: number): Promise<void> {
  await tx.query(sql`
    insert into github_issues.generation (model, tokens_most)
    select ${model}, ${tokens_most}::int
     where not exists (select 1 from github_issues.generation where model = ${model} and tokens_most = ${tokens_most}::int)
    on conflict (model, tokens_most) do nothing`);
}

/** One that was given up and is wanted again begins anew. */
export async function reviveGeneration(tx: Tx, model: string, tokens_most: number): Promise<void> {
  await tx.query(sql`
    update github_issues.generation set retired_at = null, completed_at = null, created_at = tidemark.now()
     where model = ${model} and tokens_most = ${tokens_most}::int and retired_at is not null`);
}

/** Those that live, the one that searches use first: the last that was whole, and before any was, the newest. */
export async function readGenerations(read: Queryable): Promise<Generation[]> {
  const { rows } = await read.query<Generation>(sql`
    select generation, model, tokens_most, dimensions, completed_at from github_issues.generation
     where retired_at is null order by completed_at desc nulls last, generation desc`);
  return rows;
}

export async function noteDimensions(tx: Tx, generation: number, dimensions: number): Promise<void> {
  await tx.query(sql`
    update github_issues.generation set dimensions = ${dimensions}::int
     where generation = ${generation}::int and dimensions is distinct from ${dimensions}::int`);
}

/** Whether everything that could be embedded was: what failed does not keep the rest waiting. */
export async function isWhole(read: Queryable, generation: number): Promise<boolean> {
  const { rows } = await read.query<{ whole: boolean }>(sql`
    select exists (select 1 from github_issues.vector where generation = ${generation}::int)
       and not exists (select 1 from github_issues.unembedded where generation = ${generation}::int and tries = 0) as whole`);
  return rows[0]!.whole;
}

/** From now on searches use this one; the others are given up. */
export async function completeGeneration(tx: Tx, generation: number): Promise<void> {
  await tx.query(sql`
    update github_issues.generation
       set completed_at = case when generation = ${generation}::int then tidemark.now() else completed_at end,
           retired_at = case when generation = ${generation}::int then null else tidemark.now() end
     where retired_at is null`);
}

/** Whether anything of a generation that was given up is left: as many as there are such generations. */
export async function countRetired(read: Queryable): Promise<number> {
  const { rows } = await read.query<{ n: number }>(sql`
    select count(*)::int as n from github_issues.generation g
     where g.retired_at is not null and exists (select 1 from github_issues.vector v where v.generation = g.generation)`);
  return rows[0]!.n;
}

/** Some of what no generation that lives needs any more; says how much. */
export async function dropRetired(tx: Tx, most: number): Promise<number> {
  const { count: vectors_gone } = await tx.query(sql`
    delete from github_issues.vector where ctid = any(array(
      select v.ctid from github_issues.generation g join github_issues.vector v on v.generation = g.generation
       where g.retired_at is not null limit ${most}::int))`);
  const { count: waiting_gone } = await tx.query(sql`
    delete from github_issues.unembedded where ctid = any(array(
      select u.ctid from github_issues.generation g join github_issues.unembedded u on u.generation = g.generation
       where g.retired_at is not null limit ${most}::int))`);
  const { count: passages_gone } = await tx.query(sql`
    delete from github_issues.passage where ctid = any(array(
      select p.ctid from github_issues.passage p
       where p.tokens_most <> all(array(select g.tokens_most from github_issues.generation g where g.retired_at is null)) limit ${most}::int))`);
  return vectors_gone + waiting_gone + passages_gone;
}

/** Vectors of texts that nobody says any more, some of them; says how many. */
export async function dropUnsaid(tx: Tx, generation: number, before: string, most: number): Promise<number> {
  const { count } = await tx.query(sql`
    delete from github_issues.vector where ctid = any(array(
      select v.ctid from github_issues.vector v
       where v.generation = ${generation}::int and v.written_at < ${before}::timestamptz
         and not exists (select 1 from github_issues.passage p where p.hash = v.hash) limit ${most}::int))`);
  return count;
}
