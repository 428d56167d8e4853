/** A mirror with issues and vectors that were put there by hand, for searches over many of them. */
import sql from "sql-template-tag";
import { hashed } from "../../../src/demo/embeddings/hashing.ts";
import { codeOf } from "../../../src/sources/github-issues/vector-code.ts";
import type { Db } from "../../../src/store/db.ts";

export interface Shelved {
  number: number;
  title: string;
  body?: string;
  state?: string;
  labels?: string[];
  author?: string;
  comments?: number;
  updated_at?: string;
}

export const MODEL = "hashing";
const TOKENS_MOST = 2_000;

/** One repository, acme/x, that is done, and a generation that is whole. */
export async function putRepository(db: Db, resource_id = 1, name = "acme/x"): Promise<void> {
  await db.query(sql`
    insert into github_issues.repository (resource_id, host, node_id, name, is_private, is_archived, is_disabled, has_issues, is_hidden, issues, newest, initialised_at)
    values (${resource_id}::bigint, 'github.com', ${`R_${resource_id}`}, ${name}, false, false, false, true, false, 0, '', tidemark.now())`);
  await db.query(sql`
    insert into tidemark.upstream (upstream) values ('github.com') on conflict (upstream) do nothing`);
  await db.query(sql`
    insert into tidemark.lane (source, name, upstream, urgency, first_come) values ('github-issues', 'sync', 'github.com', 'routine', false)
    on conflict (source, name, upstream, urgency) do nothing`);
  await db.query(sql`
    insert into tidemark.resource (resource_id, source, kind, key) overriding system value
    values (${resource_id}::bigint, 'github-issues', 'repository', ${name})`);
  await db.query(sql`
    insert into tidemark.due (resource_id, lane_id, due_at, fresh_at)
    select ${resource_id}::bigint, lane_id, tidemark.now() + interval '1 hour', tidemark.now() from tidemark.lane limit 1`);
}

export async function putGeneration(db: Db, dimensions: number): Promise<void> {
  await db.query(sql`
    insert into github_issues.generation (model, tokens_most, dimensions, completed_at)
    values (${MODEL}, ${TOKENS_MOST}::int, ${dimensions}::int, tidemark.now())`);
}

/** Issues of a repository, each with the vector of its title and body. */
export async function putIssues(db: Db, issues: Shelved[], resource_id = 1, dimensions = 64): Promise<void> {
  for (let i = 0; i < issues.length; i += 500) {
    const part = issues.slice(i, i + 500);
    const names = [...new Set(part.flatMap(({ labels = [] }) => labels))];
    await db.query(sql`
      insert into github_issues.label (label_id, resource_id, name)
      select ${`LA_${resource_id}_`} || n, ${resource_id}::bigint, n from unnest(${names}::text[]) n on conflict (label_id) do nothing`);
    await db.query(sql`
      insert into github_issues.issue (resource_id, number, node_id, title, body, state, author, created_at, updated_at, label_ids, comments)
      select ${resource_id}::bigint, d.number, ${`I_${resource_id}_`} || d.number, d.title, d.body, d.state, d.author, d.updated_at, d.updated_at,
             array(select ${`LA_${resource_id}_`} || l from jsonb_array_elements_text(d.labels::jsonb) l), d.comments
        from unnest(${part.map((d) => d.number)}::int[], ${part.map((d) => d.title)}::text[], ${part.map((d) => d.body ?? "")}::text[],
                    ${part.map((d) => d.state ?? "open")}::text[], ${part.map((d) => d.author ?? "ann")}::text[],
                    ${part.map((d) => d.updated_at ?? "2029-01-01T00:00:00Z")}::timestamptz[],
                    ${part.map((d) => JSON.stringify(d.labels ?? []))}::text[], ${part.map((d) => d.comments ?? 0)}::int[])
               as d(number, title, body, state, author, updated_at, labels, comments)`);
    const made = part.map(({ title, body = "" }) => hashed(`${title}\n${body}`, MODEL, dimensions));
    const codes = made.map((vector) => `\\x${Buffer.from(codeOf(Float32Array.from(vector))).toString("hex")}`);
    const hashes = part.map(({ number }) => `${resource_id}-${number}`);
    await db.query(sql`
      insert into github_issues.passage (resource_id, number, tokens_most, part, hash, tokens, text)
      select ${resource_id}::bigint, d.number, ${TOKENS_MOST}::int, 0, d.hash, 1, ''
        from unnest(${part.map((d) => d.number)}::int[], ${hashes}::text[]) as d(number, hash)`);
    await db.query(sql`
      insert into github_issues.vector (generation, hash, vector, code)
      select g.generation, d.hash, d.vector::real[], d.code::bytea
        from unnest(${hashes}::text[], ${made.map((vector) => `{${vector.join(",")}}`)}::text[], ${codes}::text[]) as d(hash, vector, code),
             github_issues.generation g`);
  }
}
