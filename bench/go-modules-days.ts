/** Days of an owner's repositories at the pretend GitHub, on a virtual clock: what each costs in calls and points, and how soon news are seen. */
import type { GitHub } from "../src/demo/github/hub.ts";
import { type Db, every, refresh } from "../src/index.ts";
import { EPOCH } from "../src/testing/virtual-clock.ts";
import { GoRig, gomod } from "../test/sources/go-modules/rig.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
export const TAGS_EACH = 20;

export interface Cost {
  calls: number;
  points: number;
}

/** Two days of one habit. */
export interface Days {
  idle: Cost;
  changed: Cost;
  /** How long the slowest of the new tags took to be in the feed. */
  seen_after_max_s: number;
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

/** How often ours looks, and how long its days are; everything in them is spread evenly, so that short ones will do. */
export interface Habit {
  /** Between sweeps. */
  every: string;
  /** Between whole listings of one repository. */
  refresh: string;
  day_ms: number;
}

/** Ours: the first index, and then for each habit a day on which nothing happens and one on which 1 % get a new tag. */
export async function ourDays(
  db: Db,
  repositories: number,
  habits: Habit[],
): Promise<{ first: Cost; days: Days[]; versions: number }> {
  const rig = new GoRig(db);
  const hub = await rig.reset();
  fill(hub, repositories);
  await rig.follow("github.com/acme");
  const first = await costOf(hub, () => rig.work(SLOTS));
  const days: Days[] = [];
  for (const habit of habits) days.push(await daysOf(rig, repositories, habit, days.length));
  const versions = (await rig.feed()).length;
  await rig.end();
  return { first, days, versions };
}

async function daysOf(rig: GoRig, repositories: number, { day_ms, ...own }: Habit, no: number): Promise<Days> {
  const { hub, source } = rig;
  source.configure!(source.settings!.parse(own), { github_url: null });
  // A sweep now, and the next one by this habit: after them nothing has the age that it had before.
  await refresh(rig.db, { source: source.name, kind: "owner", key: "github.com/acme" });
  await rig.live(period_ms(own.every), SLOTS);
  const idle = await costOf(hub, () => rig.live(day_ms, SLOTS));
  const pushed: { name: string; at_ms: number }[] = [];
  const changed = await costOf(hub, async () => {
    const news = Math.ceil(repositories / 100);
    const end_ms = rig.clock.elapsed_ms() + day_ms;
    for (let i = 0; i < news; i += 1) {
      // At no regular moment of a sweep's period.
      await rig.live(day_ms / news / 2 + ((i * 97_003) % (day_ms / news / 2)), SLOTS);
      const of = ((i * 37) % repositories) - (((i * 37) % repositories) % 10) + 2;
      const minor = TAGS_EACH + no * news + i;
      pushTag(hub, of, minor);
      pushed.push({ name: `github.com/acme/r${of}@v1.${minor}.0`, at_ms: rig.clock.elapsed_ms() });
    }
    await rig.live(end_ms - rig.clock.elapsed_ms(), SLOTS);
  });
  // What was pushed last is still to be seen.
  await rig.live(2 * period_ms(own.every), SLOTS);
  const published = new Map(
    (await rig.feed()).map((v) => [`${v.path}@${v.version}`, Date.parse(v.published_at) - Date.parse(EPOCH)]),
  );
  const waits = pushed.map(({ name, at_ms }) => (published.get(name) ?? Number.NaN) - at_ms);
  return { idle, changed, seen_after_max_s: Math.max(...waits) / 1000 };
}

/** So many repositories at once. */
const SLOTS = { slots: 200 };

const period_ms = (text: string): number => every(text).period_ms!;

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
