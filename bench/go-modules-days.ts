/** Days of an owner's repositories at the pretend GitHub, on a virtual clock: what each costs in calls and points, and how soon news are seen. */
import sql from "sql-template-tag";
import type { GitHub } from "../src/demo/github/hub.ts";
import type { Db } from "../src/index.ts";
import { EPOCH } from "../src/testing/virtual-clock.ts";
import { GoRig, gomod } from "../test/sources/go-modules/rig.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
export const TAGS_EACH = 20;

export interface Cost {
  calls: number;
  points: number;
}

export interface Days {
  first: Cost;
  idle: Cost;
  changed: Cost;
  /** How long the slowest of the new tags took to be in the feed. */
  seen_after_max_s: number;
  versions: number;
}

/** Mostly modules at the root; one repository in ten has a second module in a directory, one in ten is at its second major version. */
function fill(hub: GitHub, repositories: number): void {
  for (let i = 0; i < repositories; i += 1) {
    const name = `acme/r${i}`;
    hub.repository(name);
    for (let n = 0; n < TAGS_EACH; n += 1) pushTag(hub, i, n);
  }
}

function pushTag(hub: GitHub, i: number, n: number): void {
  const root = `github.com/acme/r${i}`;
  const name = `acme/r${i}`;
  if (i % 10 === 0 && n % 2 === 1) hub.push(name, `sub/v0.${n}.0`, { files: gomod(`${root}/sub`, "sub/go.mod") });
  else if (i % 10 === 1) hub.push(name, `v2.${n}.0`, { files: gomod(`${root}/v2`) });
  else hub.push(name, `v1.${n}.0`, { files: gomod(root) });
}

/** What was asked of GitHub while the work went on. */
async function costOf(hub: GitHub, work: () => Promise<void>): Promise<Cost> {
  const before = { calls: hub.count, points: hub.points };
  await work();
  return { calls: hub.count - before.calls, points: hub.points - before.points };
}

/**
 * Ours: the first index, a day on which nothing happens, and a day on which one repository in a hundred gets a new tag. A day may be
 * shorter than 24 hours, because everything in it is spread evenly.
 */
export async function ourDays(db: Db, repositories: number, hours: number): Promise<Days> {
  const day_ms = hours * HOUR_MS;
  const rig = new GoRig(db);
  const hub = await rig.reset();
  fill(hub, repositories);
  await rig.follow("github.com/acme");
  rig.start({ slots: 200 });
  const first = await costOf(hub, () => rig.calm(DAY_MS));
  const idle = await costOf(hub, () => rig.clock.advance(day_ms));
  const pushed: { name: string; at_ms: number }[] = [];
  const changed = await costOf(hub, async () => {
    const news = Math.ceil(repositories / 100);
    for (let i = 0; i < news; i += 1) {
      // At no regular moment of a sweep's period.
      await rig.clock.advance(day_ms / news / 2 + ((i * 97_003) % (day_ms / news / 2)));
      const of = ((i * 37) % repositories) - (((i * 37) % repositories) % 10) + 2;
      pushTag(hub, of, TAGS_EACH + i);
      pushed.push({ name: `github.com/acme/r${of}@v1.${TAGS_EACH + i}.0`, at_ms: rig.clock.elapsed_ms() });
    }
    await rig.clock.advance(day_ms / news);
  });
  const { rows } = await db.query<{ name: string; published_at: string }>(sql`
    select path || '@' || version as name, published_at from go_modules.version`);
  const published = new Map(rows.map((r) => [r.name, Date.parse(r.published_at) - Date.parse(EPOCH)]));
  const waits = pushed.map(({ name, at_ms }) => (published.get(name) ?? Number.NaN) - at_ms);
  await rig.end();
  return { first, idle, changed, seen_after_max_s: Math.max(...waits) / 1000, versions: rows.length };
}

/**
 * The document's: every day the list of repositories, the tags of each, and one go.mod for each tag, spread over the day so that it meets no
 * limit. The same GitHub, asked for real.
 */
export async function documentDay(hub: GitHub, repositories: number): Promise<Cost> {
  fill(hub, repositories);
  const token = hub.account("bot");
  const calls = Math.ceil(repositories / 100) + repositories * (1 + TAGS_EACH);
  let made = 0;
  const ask = async (query: string, variables: object): Promise<string> => {
    const at_ms = Date.parse(EPOCH) + (made / calls) * DAY_MS;
    made += 1;
    const headers = { authorization: `Bearer ${token}` };
    const body = JSON.stringify({ query, variables });
    const answer = await hub.answer({ at_ms, method: "POST", path: "/graphql", headers, body });
    const text = JSON.stringify(answer.body);
    if (answer.status !== 200 || text.includes('"errors"')) throw new Error(`GitHub said ${answer.status}: ${text}`);
    return text;
  };
  return costOf(hub, async () => {
    const names: string[] = [];
    for (let after: string | null = null, more = true; more; ) {
      const text = await ask(LISTING, { after });
      const { nodes, pageInfo } = JSON.parse(text).data.repositoryOwner.repositories;
      names.push(...nodes.map((node: { name: string }) => node.name));
      ({ hasNextPage: more, endCursor: after } = pageInfo);
    }
    for (const name of names) {
      const { nodes } = JSON.parse(await ask(TAGS, { name })).data.repository.refs;
      for (const tag of nodes as { name: string }[]) await ask(FILE, { name, at: `${tag.name}:go.mod` });
    }
  });
}

const LISTING = `query($after: String) { repositoryOwner(login: "acme") { repositories(first: 100, after: $after) {
  nodes { name } pageInfo { hasNextPage endCursor } } } }`;
const TAGS = `query($name: String!) { repository(owner: "acme", name: $name) { refs(refPrefix: "refs/tags/", first: 100) { nodes { name } } } }`;
const FILE = `query($name: String!, $at: String!) { repository(owner: "acme", name: $name) { object(expression: $at) { ... on Blob { text } } } }`;
