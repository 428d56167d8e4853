/** A large repository initialised on a virtual clock, within GitHub's limits and those of a server of embeddings, while people search all the while. */
import sql from "sql-template-tag";
import type { Db } from "../src/index.ts";
import { IssueRig } from "../test/sources/github-issues/rig.ts";
import { OPEN_QUESTIONS } from "./github-issues-questions.ts";
import { percentile } from "./measure.ts";

/** What others measured: a page of issues takes three seconds, and a look 0.6. */
const PAGE_MS = 3_000;
const CALL_MS = 600;
const EMBED_MS = 700;
const SEARCH_EVERY_MS = 7_000;
const REQUESTS_PER_MINUTE = 3_000;
const TOKENS_PER_MINUTE = 1_000_000;

export interface Simulated {
  issues: number;
  virtual_minutes: number;
  github_pages: number;
  github_points: number;
  embedding_requests: number;
  embedding_tokens: number;
  searches: number;
  search_wait_p95_ms: number | null;
}

function fill(rig: IssueRig, issues: number): void {
  const { hub } = rig;
  hub.repository("big/one");
  const shelf = hub.issues("big/one");
  const begun_ms = hub.now_ms - 8 * 365 * 86_400_000;
  for (let n = 1; n <= issues; n += 1) {
    hub.now_ms = begun_ms + Math.floor((n * 8 * 365 * 86_400_000) / (issues + 1));
    const question = OPEN_QUESTIONS[n % OPEN_QUESTIONS.length]!;
    shelf.file({
      number: n,
      title: `${question} (${n})`,
      body: [...Array<string>(1 + (n % 9)).fill(`${question}.`), `Build ${n * 7}.`].join(" "),
      labels: [n % 3 ? "bug" : "wish"],
    });
    if (n % 3 === 0)
      shelf.issues.get(n)!.comments.push({
        id: `IC_${n}`,
        author: "bob",
        association: "MEMBER",
        body: `Thank you, we look into number ${n}.`,
        created_ms: hub.now_ms,
        updated_ms: hub.now_ms,
      });
  }
}

/** From following it to its last vector. */
export async function simulate(db: Db, issues: number): Promise<Simulated> {
  const rig = new IssueRig(db);
  await rig.reset({
    hub: { latency_ms: ({ body }) => (body.includes("direction: ASC") ? PAGE_MS : CALL_MS) },
    embeddings: {
      requests_per_minute: REQUESTS_PER_MINUTE,
      tokens_per_minute: TOKENS_PER_MINUTE,
      latency_ms: () => EMBED_MS,
    },
    settings: { requests_per_minute: String(REQUESTS_PER_MINUTE), tokens_per_minute: String(TOKENS_PER_MINUTE) },
    split_least: Math.min(2_000, issues / 2),
  });
  fill(rig, issues);
  await rig.followed("big/one");
  rig.start();
  const waits = await searchMeanwhile(rig, issues);
  const calls = rig.embeddings.calls.filter(({ inputs }) => inputs > 1);
  const pages = rig.hub.calls.filter(({ query }) => query.includes("direction: ASC"));
  const told = {
    issues,
    virtual_minutes: rig.clock.elapsed_ms() / 60_000,
    github_pages: pages.length,
    github_points: rig.hub.points,
    embedding_requests: calls.length,
    embedding_tokens: calls.reduce((sum, { tokens }) => sum + tokens, 0),
    searches: waits.length,
    search_wait_p95_ms: percentile(waits, 0.95),
  };
  await rig.end();
  return told;
}

/** Questions leave on time, or wait for their turn: how long, until everything is embedded. */
async function searchMeanwhile(rig: IssueRig, issues: number): Promise<number[]> {
  const waits: number[] = [];
  for (let n = 0; ; n += 1) {
    const begun_ms = rig.clock.elapsed_ms();
    const mark = `when does number ${n} happen`;
    let done = false;
    void rig.embedQuery(mark).then(() => {
      done = true;
    });
    await rig.clock.until(() => done);
    const left = rig.upstream.requests.findLast(({ body }) => body.includes(mark));
    if (left) waits.push(left.at_ms - begun_ms);
    await rig.clock.advance(SEARCH_EVERY_MS);
    if (n % 5 === 0 && (await isDone(rig, issues))) return waits;
  }
}

async function isDone({ db }: IssueRig, issues: number): Promise<boolean> {
  const { rows } = await db.query<{ done: boolean }>(sql`
    select exists (select 1 from github_issues.repository where initialised_at is not null)
       and (select count(*) from github_issues.issue) >= ${issues}::int
       and not exists (select 1 from github_issues.unembedded) as done`);
  return rows[0]!.done;
}
