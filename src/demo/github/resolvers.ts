/** Answers to the fields of GitHub's schema that are asked for; any other field says clearly that nobody answers it here. */
import { GraphQLError, type GraphQLFieldResolver, type GraphQLTypeResolver } from "graphql";
import {
  type Args,
  type Asking,
  iso,
  notFound,
  page,
  readCursor,
  type Typed,
  typed,
  writeCursor,
} from "./answering.ts";
import { issueAnswers, issuesOf, labelsOf, metIssue, PLAIN_ISSUES } from "./issue-answers.ts";
import { type GitObject, type Owner, peeled, type Repository } from "./world.ts";

type Answers = Record<string, (of: never, args: Args, asking: Asking) => unknown>;

interface Ref {
  repository: Repository;
  name: string;
  prefix: string;
  object: GitObject;
}

/** A blob has no object of its own here: it is what a commit says is at a path. */
interface Blob {
  repository: Repository;
  text: string | null;
  oid: string;
}

interface Sorted {
  revision: number;
  names: string[];
}

const alphabetical = new WeakMap<Repository, Sorted>();
const byDate = new WeakMap<Repository, Sorted>();

function kept(cache: WeakMap<Repository, Sorted>, repository: Repository, sort: () => string[]): string[] {
  const known = cache.get(repository);
  if (known?.revision === repository.revision) return known.names;
  const names = sort();
  cache.set(repository, { revision: repository.revision, names });
  return names;
}

const bytewise = (a: string, b: string) => (a < b ? -1 : 1);

function tagNames(repository: Repository, orderBy: { field: string; direction: string } | undefined, no: number) {
  if (orderBy?.field !== "TAG_COMMIT_DATE") {
    const names = kept(alphabetical, repository, () => [...repository.tags.keys()].sort(bytewise));
    return orderBy?.direction === "DESC" ? names.toReversed() : names;
  }
  const date = (name: string) => peeled(repository.tags.get(name)!).date_ms;
  const names = kept(byDate, repository, () =>
    [...repository.tags.keys()].sort((a, b) => date(b) - date(a) || bytewise(a, b)),
  );
  const newest = orderBy.direction === "DESC" ? names : names.toReversed();
  // Tags of one date come in an order that nobody promised: another one with each call.
  const tied = newest.findIndex((name) => date(name) !== date(newest[0]!));
  const ties = tied < 0 ? newest.length : tied;
  if (ties < 2) return newest;
  const turn = no % ties;
  return [...newest.slice(turn, ties), ...newest.slice(0, turn), ...newest.slice(ties)];
}

function gitObject(repository: Repository, object: GitObject) {
  return typed(object.type, { repository, object });
}

/** "OID:path", "OID", "OID^{commit}" or a tag's name in their place. */
function atExpression(repository: Repository, expression: string) {
  const [, name = "", path] = /^([^:]*?)(?:\^\{commit\})?(?::(.*))?$/s.exec(expression) ?? [];
  const head = name === "HEAD" ? repository.head : null;
  const object = head ?? repository.objects.get(name) ?? repository.tags.get(name.replace(/^refs\/tags\//, ""));
  if (!object) return null;
  if (path === undefined) return gitObject(repository, expression.endsWith("^{commit}") ? peeled(object) : object);
  const { files, oid } = peeled(object);
  if (!Object.hasOwn(files, path)) return null;
  return typed("Blob", { repository, text: files[path]!, oid: oid.replace(/^.{4}/, "b10b") } satisfies Blob);
}

function visible({ world, viewer, met }: Asking, repository: Repository | null): Repository | null {
  if (!repository || !world.sees(viewer, repository)) return null;
  met(repository);
  return repository;
}

function repositoriesOf({ value: owner }: Typed<Owner>, args: Args, asking: Asking) {
  const all = [...owner.repositories.values()]
    .filter((one) => asking.world.sees(asking.viewer, one))
    .filter((one) => typeof args.isFork !== "boolean" || one.isFork === args.isFork)
    .filter((one) => typeof args.isArchived !== "boolean" || one.isArchived === args.isArchived)
    .sort((a, b) => a.no - b.no);
  // Cursors hold the place of the last one in the order, so that a deletion shifts nobody.
  const after = typeof args.after === "string" ? readCursor(args.after) : 0;
  const rest = all.filter((one) => one.no > after).slice(0, Number(args.first));
  for (const one of rest) asking.met(one);
  const last = rest.at(-1);
  return {
    totalCount: all.length,
    nodes: rest.map((one) => typed("Repository", one)),
    pageInfo: {
      hasNextPage: last !== undefined && all.at(-1)!.no > last.no,
      endCursor: last ? writeCursor(last.no) : null,
    },
  };
}

function nodeOf(id: string, asking: Asking) {
  const found = visible(asking, asking.world.byId(id));
  if (found) return typed("Repository", found);
  const met = asking.world.issueById(id);
  if (met && visible(asking, asking.world.byId(met.shelf.repository))) return metIssue(met.shelf, met.issue);
  throw notFound(`Could not resolve to a node with the global id of '${id}'.`);
}

const ownerFields: Answers = {
  id: ({ value }: Typed<Owner>) => value.id,
  login: ({ value }: Typed<Owner>) => value.login,
  repositories: repositoriesOf,
};

const named = (get: (repository: Repository) => unknown) => (of: Typed<Repository>) => get(of.value);

const answers: Record<string, Answers> = {
  ...(issueAnswers as Record<string, Answers>),
  Query: {
    rateLimit: (_: never, _args, { rate }) => rate,
    viewer: (_: never, _args, { viewer }) => ({ login: viewer ?? "nobody" }),
    repositoryOwner: (_: never, { login }, { world }) => {
      const owner = world.owners.get(String(login).toLowerCase());
      return owner ? typed(owner.type, owner) : null;
    },
    repository: (_: never, { owner, name }, asking) => {
      const found = visible(asking, asking.world.find(`${owner}/${name}`));
      if (found) return typed("Repository", found);
      throw notFound(`Could not resolve to a Repository with the name '${owner}/${name}'.`);
    },
    node: (_: never, { id }, asking) => nodeOf(String(id), asking),
    nodes: (_: never, { ids }, asking) =>
      (ids as string[]).map((id) => {
        // In a list, what is not there is null with an error of its own.
        try {
          return nodeOf(id, asking);
        } catch (thrown) {
          return thrown;
        }
      }),
  },
  Organization: ownerFields,
  User: { ...ownerFields, login: (of: { login?: string; value?: Owner }) => of.login ?? of.value?.login },
  Repository: {
    id: named((r) => r.id),
    name: named((r) => r.name),
    nameWithOwner: named((r) => `${r.owner}/${r.name}`),
    pushedAt: named((r) => iso(r.pushed_ms)),
    isFork: named((r) => r.isFork),
    isArchived: named((r) => r.isArchived),
    isDisabled: named((r) => r.isDisabled),
    isPrivate: named((r) => r.isPrivate),
    isEmpty: named((r) => r.head === null),
    hasIssuesEnabled: named((r) => r.hasIssues),
    issues: ({ value }: Typed<Repository>, args) => issuesOf(value, args),
    labels: ({ value }: Typed<Repository>, args) => labelsOf(value, args),
    defaultBranchRef: named((r) => r.head && { repository: r, name: "main", prefix: "refs/heads/", object: r.head }),
    refs: ({ value: r }: Typed<Repository>, args, { no }) => {
      if (args.refPrefix !== "refs/tags/") return page([], args, writeCursor);
      const names = tagNames(r, args.orderBy as { field: string; direction: string } | undefined, no);
      const { nodes, ...rest } = page(names, args, writeCursor);
      const ref = (name: string): Ref => ({ repository: r, name, prefix: "refs/tags/", object: r.tags.get(name)! });
      return { ...rest, nodes: nodes.map(ref) };
    },
    languages: ({ value: r }: Typed<Repository>, args) =>
      page(
        r.languages.map((name) => ({ name })),
        args,
        writeCursor,
      ),
    object: ({ value }: Typed<Repository>, { expression }) => atExpression(value, String(expression)),
  },
  Ref: {
    name: (ref: Ref) => ref.name,
    prefix: (ref: Ref) => ref.prefix,
    target: (ref: Ref) => gitObject(ref.repository, ref.object),
  },
  Commit: {
    oid: ({ value }: Typed<{ object: GitObject }>) => value.object.oid,
    committedDate: ({ value }: Typed<{ object: GitObject & { date_ms: number } }>) => iso(value.object.date_ms),
  },
  Tag: {
    oid: ({ value }: Typed<{ object: GitObject }>) => value.object.oid,
    name: ({ value }: Typed<{ object: GitObject & { name: string } }>) => value.object.name,
    target: ({ value: { repository, object } }: Typed<{ repository: Repository; object: GitObject }>) =>
      gitObject(repository, (object as Extract<GitObject, { type: "Tag" }>).target),
  },
  Blob: {
    oid: ({ value }: Typed<Blob>) => value.oid,
    text: ({ value }: Typed<Blob>) => value.text,
    isBinary: ({ value }: Typed<Blob>) => value.text === null,
    isTruncated: () => false,
    byteSize: ({ value }: Typed<Blob>) => Buffer.byteLength(value.text ?? ""),
  },
};

/** Types whose values are made whole by the field that leads to them. */
const PLAIN = new Set([
  "RateLimit",
  "RepositoryConnection",
  "RefConnection",
  "LanguageConnection",
  "Language",
  "PageInfo",
  ...PLAIN_ISSUES,
]);

export const fieldResolver: GraphQLFieldResolver<unknown, Asking> = (of, args, asking, { parentType, fieldName }) => {
  if (PLAIN.has(parentType.name)) return (of as Record<string, unknown>)[fieldName];
  const answer = answers[parentType.name]?.[fieldName];
  if (answer) return answer(of as never, args, asking);
  throw new GraphQLError(`The pretend GitHub does not answer ${parentType.name}.${fieldName}.`);
};

export const typeResolver: GraphQLTypeResolver<unknown, Asking> = (of) => (of as { __typename: string }).__typename;
