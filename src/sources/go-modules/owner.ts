/** The two kinds that people follow: an owner with all repositories, and one repository by its name. */
import {
  askGitHub,
  type Child,
  every,
  fresh,
  type GitHubFault,
  type GitHubHost,
  type GitHubOwner,
  type GitHubRepository,
  gitHubError,
  gone,
  isBadCursor,
  isDown,
  isNotFound,
  type Kind,
  kind,
  later,
  type Pull,
  readGitHubName,
} from "tidemark";
import { z } from "zod";
import { keyOf, readKey } from "./names.ts";
import { type Glimpse, namedRepository, type OwnerAnswer, ownerPage, type Swept } from "./queries.ts";
import type { Settings } from "./settings.ts";
import { options } from "./settings.ts";
import { isBelieved, stillThere, unseen } from "./sight.ts";
import { compare, type Seen, toBatch } from "./sweep.ts";
import { readRepositories } from "./tables.ts";

/** The smallest page that is tried, and how much the next listing asks for more after one that was cut down. */
const PAGE_LEAST = 5;
const PAGE_STEP = 10;

export interface KindParts {
  gitHub(host: string): GitHubHost;
  settings(): Settings;
  /** The most repositories that a sweep asks for at once. */
  page_most: number;
}

const period_ms = (text: string): number => every(text).period_ms!;

const OwnerCursor = z.object({
  after: z.string().nullable(),
  /** How many repositories are asked for at once: fewer after GitHub took too long. */
  size: z.number().int(),
  /** Nothing was left out so far. */
  whole: z.boolean(),
});
type OwnerCursor = z.infer<typeof OwnerCursor>;

const sweepOften =
  ({ settings }: KindParts) =>
  (given: Record<string, unknown>) =>
    every(typeof given.every === "string" ? given.every : settings().every);

/** A page of the listing; null where there is no such owner. */
async function readPage(pull: Pull, at: GitHubHost, owner: string, { after, size }: OwnerCursor) {
  const { data, faults } = await askGitHub(pull, at, ownerPage(owner, after, size));
  return { answer: data.repositoryOwner, faults };
}

const isWanted = ({ isFork, isArchived }: Glimpse, { forks, archived }: Settings): boolean =>
  (forks || !isFork) && (archived || !isArchived);

function wantedOf({ repositories }: NonNullable<OwnerAnswer["repositoryOwner"]>, settings: Settings): Swept[] {
  return repositories.nodes.filter((one): one is Swept => one !== null && isWanted(one, settings));
}

/** What a listing to its end did not meet and is the owner's still. */
async function keptOf(pull: Pull, parts: KindParts, { found }: Seen): Promise<Child[]> {
  const { host, owner } = readGitHubName(pull.resource.key) as GitHubOwner;
  const met = new Set(found.map(({ key }) => readKey(key).id));
  const isStill = (one: Glimpse) =>
    one.nameWithOwner.toLowerCase().startsWith(`${owner}/`) && isWanted(one, parts.settings());
  return stillThere(pull, parts.gitHub(host), met, isStill, period_ms(parts.settings().refresh));
}

export function ownerKind(parts: KindParts): Kind {
  return kind<OwnerCursor>({
    upstream: (key) => parts.gitHub(hostOf(key)).upstream,
    schedule: sweepOften(parts),
    options,
    cursor: OwnerCursor.default({ after: null, size: parts.page_most, whole: true }),
    async *pull(pull) {
      const { host, owner } = readGitHubName(pull.resource.key) as GitHubOwner;
      for (;;) {
        const { cursor } = pull;
        let page: Awaited<ReturnType<typeof readPage>>;
        try {
          page = await readPage(pull, parts.gitHub(host), owner, cursor);
        } catch (thrown) {
          // Most likely it took too long: the next try asks for less.
          const size = Math.max(PAGE_LEAST, Math.ceil(cursor.size / 2));
          if (isDown(thrown) && size < cursor.size) yield { cursor: { ...cursor, size } };
          throw thrown;
        }
        const { answer, faults } = page;
        if (cursor.after !== null && faults.some(isBadCursor)) {
          yield { cursor: { ...cursor, after: null, whole: true } };
          continue;
        }
        if (answer === null && !faults.every(isNotFound)) throw gitHubError(host, faults);
        if (answer === null) return gone(`there is no ${owner} at ${host}, or our token may not see it`);
        const whole = cursor.whole && faults.length === 0 && !answer.repositories.nodes.includes(null);
        const seen = await compare(pull, host, wantedOf(answer, parts.settings()), period_ms(parts.settings().refresh));
        const { hasNextPage, endCursor } = answer.repositories.pageInfo;
        if (hasNextPage && endCursor !== null) {
          yield { ...toBatch(seen, false), cursor: { ...cursor, after: endCursor, whole } };
          continue;
        }
        const kept = whole ? await keptOf(pull, parts, seen) : [];
        const size = Math.min(parts.page_most, cursor.size + PAGE_STEP);
        // What was left out is not gone: only a listing without gaps lets go of what it did not find.
        const final = whole
          ? fresh()
          : later(sweepOften(parts)(pull.resource.options).period_ms!, leftOut(host, faults));
        yield {
          ...toBatch({ ...seen, found: [...seen.found, ...kept] }, whole),
          cursor: { after: null, size, whole: true },
          final,
        };
        return;
      }
    },
  });
}

const leftOut = (host: string, faults: GitHubFault[]): string =>
  `${host} left out some of the repositories${faults[0] ? `: ${faults[0].message}` : ""}`;

const hostOf = (key: string): string => key.slice(0, key.indexOf("/"));

const NamedCursor = z.object({ id: z.string().nullable() });

/** A name leads to a repository: what is kept fresh is the repository, under whatever name it has by then. */
export function namedKind(parts: KindParts): Kind {
  return kind<z.infer<typeof NamedCursor>>({
    upstream: (key) => parts.gitHub(hostOf(key)).upstream,
    schedule: sweepOften(parts),
    options,
    cursor: NamedCursor.default({ id: null }),
    async *pull(pull) {
      const { host, owner, name } = readGitHubName(pull.resource.key) as GitHubRepository;
      const at = parts.gitHub(host);
      const { data, faults, viewer } = await askGitHub(pull, at, namedRepository(owner, name));
      const one = data.repository;
      if (one === null) {
        const { id } = pull.cursor;
        if (!faults.every(isNotFound)) return later(period_ms(parts.settings().every), leftOut(host, faults));
        const row = id === null ? undefined : (await readRepositories(pull.read, host, [id])).get(id);
        if (!isBelieved(row, viewer, pull.now_ms(), period_ms(parts.settings().refresh)))
          return later(period_ms(parts.settings().every), unseen(`${owner}/${name}`, host, viewer));
        // The repository finds out for itself whether it is gone, or only goes by another name.
        const touch = id === null ? [] : [{ kind: "repository", key: keyOf(host, id) }];
        yield { touch, final: gone(`there is no ${owner}/${name} at ${host}, or our token may not see it`) };
        return;
      }
      const seen = await compare(pull, host, [one], period_ms(parts.settings().refresh));
      yield { ...toBatch(seen, true), cursor: { id: one.id }, final: fresh() };
    },
  });
}
