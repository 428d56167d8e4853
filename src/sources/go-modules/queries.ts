/** What is asked of GitHub, and the shapes of its answers. */
import { type GitHubQuestion, points, RATE } from "tidemark";
import { z } from "zod";

/** How many repositories a sweep asks for at once: the refs of a hundred and the listing itself are 101 requests, which is one point. */
export const PAGE_MOST = 100;
/** Of the newest tags, so many are compared with the mirror; more would cost GitHub time, and find no more. */
const NEWEST = 10;
export const TAGS_PAGE = 100;
const LANGUAGES = 100;

const Oid = z.string().regex(/^[0-9a-f]{40}([0-9a-f]{24})?$/);

/** A tag's target, through annotated tags that point at annotated tags: four deep, beyond what anybody does. */
interface Target {
  oid: string;
  __typename: string;
  target?: Target | undefined;
}
const Target: z.ZodType<Target> = z.object({
  oid: Oid,
  __typename: z.string(),
  target: z.lazy(() => Target).optional(),
});

/** The commit that it comes to; null where that is something else. */
export const commitOf = (target: Target): string | null =>
  target.__typename === "Commit" ? target.oid : target.target ? commitOf(target.target) : null;

const peeling = (deep: number): string =>
  deep === 0 ? "oid __typename" : `oid __typename ... on Tag { target { ${peeling(deep - 1)} } }`;

const FACTS = `id nameWithOwner pushedAt isFork isArchived isDisabled isPrivate isEmpty defaultBranchRef { target { oid } }`;

const facts = {
  id: z.string().min(1),
  nameWithOwner: z.string().regex(/^[^/\s]+\/[^/\s]+$/),
  pushedAt: z.string().nullable(),
  isFork: z.boolean(),
  isArchived: z.boolean(),
  isDisabled: z.boolean(),
  isPrivate: z.boolean(),
  isEmpty: z.boolean(),
  defaultBranchRef: z.object({ target: z.object({ oid: Oid }).nullable() }).nullable(),
};

const Swept = z.object({
  ...facts,
  refs: z
    .object({
      totalCount: z.number().int(),
      nodes: z.array(z.object({ name: z.string(), target: z.object({ oid: Oid }).nullable() }).nullable()),
    })
    .nullable(),
});
/** A repository as a sweep sees it. */
export type Swept = z.infer<typeof Swept>;

const SWEPT = `${FACTS}
  refs(refPrefix: "refs/tags/", first: ${NEWEST}, orderBy: { field: TAG_COMMIT_DATE, direction: DESC }) {
    totalCount nodes { name target { oid } }
  }`;

const Page = z.object({ hasNextPage: z.boolean(), endCursor: z.string().nullable() });

const Owner = z.object({
  repositoryOwner: z
    .object({
      login: z.string(),
      repositories: z.object({ pageInfo: Page, nodes: z.array(Swept.nullable()) }),
    })
    .nullable(),
});
export type OwnerAnswer = z.infer<typeof Owner>;

/**
 * One page of what an owner has. Without the affiliation a user's list has the repositories of others, too; in order of creation, new
 * ones come last and no page shifts.
 */
export function ownerPage(login: string, after: string | null, first: number): GitHubQuestion<OwnerAnswer> {
  const query = `query ($login: String!, $after: String, $first: Int!) {
  ${RATE}
  repositoryOwner(login: $login) {
    login
    repositories(first: $first, after: $after, ownerAffiliations: [OWNER], orderBy: { field: CREATED_AT, direction: ASC }) {
      pageInfo { hasNextPage endCursor }
      nodes { ${SWEPT} }
    }
  }
}`;
  return { query, variables: { login, after, first }, cost: points(1 + first), answer: Owner };
}

const Named = z.object({ repository: Swept.nullable() });
export type NamedAnswer = z.infer<typeof Named>;

/** One repository by its name, which may be one that it had before. */
export function namedRepository(owner: string, name: string): GitHubQuestion<NamedAnswer> {
  const query = `query ($owner: String!, $name: String!) {
  ${RATE}
  repository(owner: $owner, name: $name) { ${SWEPT} }
}`;
  return { query, variables: { owner, name }, cost: 1, answer: Named };
}

const Glimpse = z.object({
  id: facts.id,
  nameWithOwner: facts.nameWithOwner,
  isFork: z.boolean(),
  isArchived: z.boolean(),
});
/** A repository that was asked for by its id: whose it is now. */
export type Glimpse = z.infer<typeof Glimpse>;

const Glimpses = z.object({ nodes: z.array(Glimpse.nullable()) });
export const NODES_MOST = 100;

/** Which of these can be seen; null for those that cannot. */
export function repositoriesById(ids: string[]): GitHubQuestion<z.infer<typeof Glimpses>> {
  const query = `query ($ids: [ID!]!) {
  ${RATE}
  nodes(ids: $ids) { ... on Repository { id nameWithOwner isFork isArchived } }
}`;
  return { query, variables: { ids }, cost: 1, answer: Glimpses };
}

const Listed = z.object({
  ...facts,
  languages: z.object({ nodes: z.array(z.object({ name: z.string() }).nullable()) }).nullable(),
  refs: z
    .object({
      totalCount: z.number().int(),
      pageInfo: Page,
      nodes: z.array(z.object({ name: z.string(), target: Target.nullable() }).nullable()),
    })
    .nullable(),
});
/** A repository with a page of its tags. */
export type Listed = z.infer<typeof Listed>;

const ListedAll = z.record(z.string(), z.unknown()).transform((data, context) => {
  const all: (Listed | null)[] = [];
  for (let i = 0; `n${i}` in data; i += 1) {
    const parsed = Listed.nullable().safeParse(data[`n${i}`]);
    if (parsed.success) all.push(parsed.data);
    else for (const { message, path } of parsed.error.issues) context.addIssue({ code: "custom", message, path });
  }
  return all;
});

/** The next page of tags of several repositories, each from a place of its own. */
export function tagPages(wanted: { id: string; after: string | null }[]): GitHubQuestion<(Listed | null)[]> {
  const declared = wanted.map((_, i) => `$i${i}: ID!, $a${i}: String`).join(", ");
  const asked = wanted.map((_, i) => `n${i}: node(id: $i${i}) { ... on Repository { ...tags${i} } }`);
  const fragments = wanted.map(
    (_, i) => `fragment tags${i} on Repository {
  ${FACTS}
  languages(first: ${LANGUAGES}) { nodes { name } }
  refs(refPrefix: "refs/tags/", first: ${TAGS_PAGE}, after: $a${i}, orderBy: { field: ALPHABETICAL, direction: ASC }) {
    totalCount pageInfo { hasNextPage endCursor } nodes { name target { ${peeling(4)} } }
  }
}`,
  );
  const query = `query (${declared}) {\n  ${RATE}\n  ${asked.join("\n  ")}\n}\n${fragments.join("\n")}`;
  const variables = Object.fromEntries(
    wanted.flatMap(({ id, after }, i) => [
      [`i${i}`, id],
      [`a${i}`, after],
    ]),
  );
  return { query, variables, cost: points(2 * wanted.length), answer: ListedAll };
}

const Blob = z
  .object({ __typename: z.string(), text: z.string().nullish() })
  .nullable()
  .transform((blob) => (blob === null ? null : (blob.text ?? "")));

/** A file that was asked for; which repository it is of is told by its place. */
export interface WantedFile {
  id: string;
  commit_oid: string;
  dir: string;
}

/** The go.mod files at several places of several repositories: null where there is none, empty where it is no text. */
export function gomodFiles(wanted: WantedFile[]): GitHubQuestion<(string | null)[]> {
  const declared = wanted.map((_, i) => `$i${i}: ID!, $e${i}: String!`).join(", ");
  const asked = wanted.map(
    (_, i) =>
      `f${i}: node(id: $i${i}) { ... on Repository { object(expression: $e${i}) { __typename ... on Blob { text } } } }`,
  );
  const query = `query (${declared}) {\n  ${RATE}\n  ${asked.join("\n  ")}\n}`;
  const variables = Object.fromEntries(
    wanted.flatMap(({ id, commit_oid, dir }, i) => [
      [`i${i}`, id],
      [`e${i}`, `${commit_oid}:${dir === "" ? "" : `${dir}/`}go.mod`],
    ]),
  );
  const shape = z.object(Object.fromEntries(wanted.map((_, i) => [`f${i}`, z.object({ object: Blob })])));
  const answer = shape.transform((files) => wanted.map((_, i) => files[`f${i}`]!.object));
  return { query, variables, cost: 1, answer: answer as unknown as z.ZodType<(string | null)[]> };
}
