/** GitHub's real schema, against which every query is checked. */
import { readFileSync } from "node:fs";
import { buildSchema, type DocumentNode, type GraphQLError, type GraphQLSchema, parse, validate } from "graphql";

const SEEN_MOST = 500;

let schema: GraphQLSchema | null = null;

/** Built when it is first needed, because that takes a second. */
export function githubSchema(): GraphQLSchema {
  // The package itself would read five megabytes of JSON besides.
  const file = new URL("./schema.graphql", import.meta.resolve("@octokit/graphql-schema"));
  schema ??= buildSchema(readFileSync(file, "utf8"), { assumeValidSDL: true });
  return schema;
}

export interface Checked {
  document: DocumentNode;
  errors: readonly GraphQLError[];
}

const seen = new Map<string, Checked>();

/** The query as a document, and what GitHub would say against it. Throws where it cannot be parsed. */
export function check(query: string): Checked {
  const known = seen.get(query);
  if (known) return known;
  const document = parse(query);
  const checked = { document, errors: validate(githubSchema(), document) };
  if (seen.size >= SEEN_MOST) seen.clear();
  seen.set(query, checked);
  return checked;
}
