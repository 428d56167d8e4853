/** What pulls leave behind for those who look: counters by the minute, progress by the lane, and the pulls worth remembering. */
import sql from "sql-template-tag";
import type { OutcomeName } from "../contract.ts";
import type { TidemarkError } from "../errors.ts";
import { cleanText, toJson } from "../mirror/table.ts";
import type { Queryable } from "../store/db.ts";

const SLOW_MS = 10_000;
const REMEMBERED_MOST = 1_000;

export interface PullNote {
  resource_id: bigint;
  source: string;
  kind: string;
  outcome: OutcomeName;
  changed: number;
  ms: number;
  reason: string | null;
  error: TidemarkError | null;
}

interface Count {
  source: string;
  kind: string;
  outcome: OutcomeName;
  pulls: number;
  changed: number;
}

export class Statistics {
  #counts = new Map<string, Count>();
  #last: Count | null = null;
  #progress = new Map<number, number>();
  #remembered: PullNote[] = [];

  note(pull: PullNote): void {
    const count = this.#countOf(pull);
    count.pulls += 1;
    if (pull.changed > 0) count.changed += 1;
    const worth = pull.changed > 0 || pull.outcome === "failed" || pull.outcome === "gone" || pull.ms > SLOW_MS;
    if (worth && this.#remembered.length < REMEMBERED_MOST) this.#remembered.push(pull);
  }

  /** Nearly always the same as for the pull before. */
  #countOf({ source, kind, outcome }: PullNote): Count {
    const last = this.#last;
    if (last && last.source === source && last.kind === kind && last.outcome === outcome) return last;
    const name = `${source}\u0000${kind}\u0000${outcome}`;
    const count = this.#counts.get(name) ?? { source, kind, outcome, pulls: 0, changed: 0 };
    this.#counts.set(name, count);
    this.#last = count;
    return count;
  }

  progress(lane_id: number, done: number): void {
    if (done > 0) this.#progress.set(lane_id, (this.#progress.get(lane_id) ?? 0) + done);
  }

  /** Writes what was gathered; what a crash takes with it is only counters. */
  async flush(db: Queryable, worker_id: number): Promise<void> {
    const counts = [...this.#counts.values()];
    const progress = [...this.#progress.entries()];
    const pulls = this.#remembered;
    this.#counts = new Map();
    this.#last = null;
    this.#progress = new Map();
    this.#remembered = [];
    if (counts.length > 0) await writeCounts(db, counts);
    if (progress.length > 0) await writeProgress(db, progress);
    if (pulls.length > 0) await writePulls(db, pulls, worker_id);
  }
}

async function writeCounts(db: Queryable, c: Count[]): Promise<void> {
  await db.query(sql`
    insert into tidemark.pull_count (source, kind, minute, outcome, pulls, changed)
    select c.source, c.kind, date_trunc('minute', tidemark.now()), c.outcome, c.pulls, c.changed
      from unnest(${c.map((x) => x.source)}::text[], ${c.map((x) => x.kind)}::text[], ${c.map((x) => x.outcome)}::text[],
                  ${c.map((x) => x.pulls)}::bigint[], ${c.map((x) => x.changed)}::bigint[]) as c(source, kind, outcome, pulls, changed)
     order by c.source, c.kind, c.outcome
    on conflict (minute, source, kind, outcome) do update
       set pulls = pull_count.pulls + excluded.pulls, changed = pull_count.changed + excluded.changed`);
}

async function writeProgress(db: Queryable, p: [number, number][]): Promise<void> {
  await db.query(sql`
    insert into tidemark.progress (lane_id, minute, done)
    select p.lane_id, date_trunc('minute', tidemark.now()), p.done
      from unnest(${p.map(([lane]) => lane)}::int[], ${p.map(([, done]) => done)}::bigint[]) as p(lane_id, done)
     order by p.lane_id
    on conflict (lane_id, minute) do update set done = progress.done + excluded.done`);
}

async function writePulls(db: Queryable, pulls: PullNote[], worker_id: number): Promise<void> {
  const errors = pulls.map((p) =>
    p.error ? toJson({ code: p.error.code, sentence: p.error.message.slice(0, 1000) }) : null,
  );
  await db.query(sql`
    insert into tidemark.pull (day, resource_id, started_at, ms, outcome, changed, reason, error, worker_id)
    select (extract(epoch from tidemark.now())::bigint / 86400 % 8)::smallint, p.resource_id,
           tidemark.now() - p.ms * interval '1 millisecond', p.ms, p.outcome, p.changed, p.reason, p.error::jsonb, ${worker_id}
      from unnest(${pulls.map((p) => p.resource_id)}::bigint[], ${pulls.map((p) => Math.round(p.ms))}::int[],
                  ${pulls.map((p) => p.outcome)}::text[], ${pulls.map((p) => p.changed)}::int[],
                  ${pulls.map((p) => (p.reason === null ? null : cleanText(p.reason.slice(0, 1000))))}::text[], ${errors}::text[])
           as p(resource_id, ms, outcome, changed, reason, error)`);
}
