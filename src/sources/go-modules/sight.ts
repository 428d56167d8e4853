/** Who sees what: tokens of several accounts need not see the same repositories, and whoever does not see one cannot tell that it is gone. */
import sql from "sql-template-tag";
import { askGitHub, type Child, type GitHubHost, isNotFound, type Pull, type Queryable } from "tidemark";
import { keyOf, periodNo } from "./names.ts";
import { type Glimpse, NODES_MOST, repositoriesById } from "./queries.ts";
import type { RepositoryRow } from "./tables.ts";

export type Sight = Pick<RepositoryRow, "node_id" | "name" | "seen_by" | "listing_no">;

/**
 * Whether this account's word that a repository is not there is to be believed: it is the one that saw it last, or nobody has for so long that
 * whoever did may no longer be asked.
 */
export function isBelieved(row: Sight | undefined, viewer: string | null, now_ms: number, period_ms: number): boolean {
  if (!row || row.seen_by === null || viewer === null || row.seen_by === viewer) return true;
  return row.listing_no < periodNo(row.node_id, now_ms, period_ms) - 1n;
}

export const unseen = (what: string, host: string, viewer: string | null): string =>
  `${viewer ?? "nobody"} does not see ${what} at ${host}, and another account did; all tokens for a host should see the same`;

/** Children that the listing under way has not met so far. */
async function readUnmet(read: Queryable, parent_id: bigint, generation: bigint): Promise<Sight[]> {
  const { rows } = await read.query<Sight>(sql`
    select r.node_id, r.name, r.seen_by, r.listing_no from tidemark.edge e join go_modules.repository r on r.resource_id = e.child_id
     where e.parent_id = ${parent_id}::bigint and e.seen_generation < ${generation}::bigint order by r.resource_id`);
  return rows;
}

/**
 * What a listing without gaps did not meet and is not let go of all the same. Most of the time everything was met, and nobody is asked; what was not
 * is asked for by its id. Some of the pages may have been answered to an account that sees less than another one.
 */
export async function stillThere(
  pull: Pull,
  at: GitHubHost,
  met: Set<string>,
  isWanted: (one: Glimpse) => boolean,
  period_ms: number,
): Promise<Child[]> {
  const all = await readUnmet(pull.read, pull.resource.resource_id, pull.generation);
  const unmet = all.filter(({ node_id }) => !met.has(node_id));
  const kept: Sight[] = [];
  for (let i = 0; i < unmet.length; i += NODES_MOST) {
    const part = unmet.slice(i, i + NODES_MOST);
    const { data, faults, viewer } = await askGitHub(pull, at, repositoriesById(part.map(({ node_id }) => node_id)));
    const sure = faults.every(isNotFound);
    part.forEach((row, n) => {
      const one = data.nodes[n];
      const is_there = one ? isWanted(one) : !sure || !isBelieved(row, viewer, pull.now_ms(), period_ms);
      if (is_there) kept.push(row);
    });
  }
  return kept.map(({ node_id, name }) => ({
    kind: "repository",
    key: keyOf(at.host, node_id),
    options: { name: `${at.host}/${name}` },
  }));
}
