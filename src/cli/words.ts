/** What the API says about status, in words and tables for people. */
import { formatDuration } from "../duration.ts";
import type { Overview, SourceStatus, UpstreamStatus } from "../engine/overview.ts";
import { type Output, paint, table } from "./output.ts";

/** JSON has 64-bit numbers as text. */
type Big = string;

export interface SourceAnswer extends SourceStatus {
  now: string;
  kinds: string[];
  upstreams: UpstreamStatus[];
  tidemarks: { kind: string; key: string; internal: Big; position: Big; skips: number }[];
}

interface ListedAnswer {
  kind: string;
  key: string;
  status: string;
  due_at: string | null;
  fresh_at: string | null;
  reason: string | null;
  progress_done: Big | null;
  progress_total: Big | null;
}

interface MessageAnswer {
  seq: Big;
  tries: number;
  error: { code?: string; sentence?: string } | null;
}

export interface ResourceAnswer extends ListedAnswer {
  resource_id: Big;
  source: string;
  now: string;
  tried_at: string | null;
  changed_at: string | null;
  viewed_at: string | null;
  followed_at: string | null;
  failures: number;
  lane: string;
  urgency: string;
  upstream: string;
  options: unknown;
  cursor: unknown;
  description: string | null;
  next: { due_at: string | null; why: string };
  line: { place: number | null; eta_ms: number | null };
  mail: Big;
  mailbox: { waiting: MessageAnswer[]; parked: MessageAnswer[] };
  tidemark: { internal: Big; position: Big; skips: number } | null;
  pulls: { started_at: string; ms: number; outcome: string; changed: number; reason: string | null }[];
  children: number;
  parents: { source: string; kind: string; key: string }[];
}

export const span = (now: string, at: string | null): string => {
  if (at === null) return "–";
  const ms = Date.parse(at) - Date.parse(now);
  const length = formatDuration(Math.abs(ms), Math.abs(ms) < 60_000 ? 1 : 2);
  return ms > 0 ? `in ${length}` : `${length} ago`;
};

const at = (time: string): string => `${time.slice(0, 19).replace("T", " ")}Z`;
const eta = (ms: number | null): string => (ms === null ? "–" : formatDuration(ms, 1));
const colours = {
  parked: "red",
  due: "yellow",
  leased: "cyan",
  waiting: "green",
  paused: "magenta",
  gone: "gray",
} as const;
const coloured = (output: Output, status: string): string =>
  paint(output, colours[status as keyof typeof colours] ?? "reset", status);

export function overviewWords(output: Output, all: Overview & { database: string; version: string }): string[] {
  if (all.sources.length === 0)
    return ["No source is loaded. Give one with --source ./mine.js; docs/new-source.md says how to write it."];
  const rows = all.sources.map((s) => [
    s.source,
    String(s.followed),
    String(s.resources),
    s.fresh_percent === null ? "–" : `${s.fresh_percent} %`,
    String(s.due),
    s.oldest_due_at === null ? "–" : formatDuration(Math.max(0, Date.parse(all.now) - Date.parse(s.oldest_due_at)), 1),
    String(s.leased),
    String(s.parked),
    String(s.paused),
    String(s.gone),
    String(s.messages),
    String(s.pulls_per_minute),
    eta(s.eta_ms),
  ]);
  const headings = [
    "source",
    "followed",
    "resources",
    "fresh",
    "due",
    "oldest",
    "leased",
    "parked",
    "paused",
    "gone",
    "messages",
    "pulls/min",
    "ETA",
  ];
  const busy = all.workers.reduce((sum, worker) => sum + worker.busy, 0);
  const slots = all.workers.reduce((sum, worker) => sum + worker.slots, 0);
  const workers =
    all.workers.length === 0
      ? paint(output, "yellow", "No worker is running, so nothing is pulled: start `tidemark up` or `tidemark worker`.")
      : `${all.workers.length} worker${all.workers.length === 1 ? "" : "s"}, ${busy} of ${slots} slots busy.`;
  return [
    ...table(headings, rows),
    ...(all.estimated ? ["Counts are estimates from a sample."] : []),
    workers,
    ...closedWords(output, all.upstreams, all.now),
    ...all.sources
      .filter((s) => s.parked > 0)
      .map((s) =>
        paint(output, "yellow", `Parked in ${s.source}: see \`tidemark status ${s.source} --status parked\`.`),
      ),
    ...all.sources
      .filter((s) => s.messages_parked > 0)
      .map((s) => paint(output, "yellow", `Parked messages in ${s.source}: see \`tidemark messages ${s.source}\`.`)),
  ];
}

function closedWords(output: Output, upstreams: UpstreamStatus[], now: string): string[] {
  return upstreams
    .filter((one) => one.closed_until !== null)
    .map((one) =>
      paint(
        output,
        "yellow",
        `${one.upstream} is closed; it opens ${span(now, one.closed_until)}: ${one.closed_reason ?? "no reason given"}`,
      ),
    );
}

export function sourceWords(output: Output, one: SourceAnswer): string[] {
  const parts = [
    `${one.followed} followed`,
    `${one.resources} resources`,
    `${one.fresh_percent ?? "–"} % fresh`,
    `${one.due} due`,
    `${one.leased} leased`,
    `${one.parked} parked`,
    `${one.paused} paused`,
    `${one.messages} messages`,
    `${one.pulls_per_minute} pulls/min`,
    ...(one.eta_ms === null ? [] : [`caught up in ${eta(one.eta_ms)}`]),
  ];
  const tidemarks = one.tidemarks.map((t) => {
    const skipped = t.skips > 0 ? `, ${t.skips} skipped` : "";
    return `tidemark of ${t.kind} ${t.key}: ${t.position} of ${t.internal} read${skipped}`;
  });
  return [`${one.source}: ${parts.join(", ")}`, ...tidemarks, ...closedWords(output, one.upstreams, one.now)];
}

export function listWords(
  output: Output,
  list: { resources: ListedAnswer[]; next: string | null },
  now: string,
): string[] {
  if (list.resources.length === 0) return ["No resource matches."];
  const rows = list.resources.map((r) => [
    r.status,
    r.kind,
    r.key.length > 60 ? `${r.key.slice(0, 59)}…` : r.key,
    span(now, r.fresh_at),
    span(now, r.due_at),
    r.progress_total === null ? "" : `${r.progress_done} of ${r.progress_total}`,
    (r.reason ?? "").slice(0, 80),
  ]);
  const [head, ...lines] = table(["status", "kind", "key", "fresh", "due", "progress", "reason"], rows);
  const painted = lines.map((line, i) => line.replace(rows[i]![0]!, coloured(output, rows[i]![0]!)));
  return [
    head!,
    ...painted,
    ...(list.next === null ? [] : ["… and more: narrow it with --search or --status, or raise --limit."]),
  ];
}

export function resourceWords(output: Output, r: ResourceAnswer): string[] {
  const origin = [
    ...(r.followed_at === null ? [] : [`followed since ${at(r.followed_at)}`]),
    ...r.parents.map((p) => `brought forth by ${p.kind} ${p.key}`),
  ];
  const when = r.next.due_at === null ? "" : `${span(r.now, r.next.due_at)}, `;
  const facts: [string, string | null][] = [
    ["status", coloured(output, r.status)],
    ["next", `${when}${r.next.why}`],
    ["in line", r.line.place === null ? null : `place ${r.line.place} in lane ${r.lane} (${r.urgency})`],
    ["ETA", r.line.eta_ms === null ? null : formatDuration(r.line.eta_ms, 2)],
    ["fresh", span(r.now, r.fresh_at)],
    ["changed", span(r.now, r.changed_at)],
    ["tried", span(r.now, r.tried_at)],
    ["viewed", r.viewed_at === null ? null : span(r.now, r.viewed_at)],
    ["progress", r.progress_total === null ? null : `${r.progress_done} of ${r.progress_total}`],
    ["reason", r.reason],
    ["failures", r.failures === 0 ? null : String(r.failures)],
    ["upstream", r.upstream],
    ["origin", origin.join("; ") || null],
    ["children", r.children === 0 ? null : String(r.children)],
    ["messages", r.mail === "0" ? null : `${r.mail} waiting`],
    ["parked", r.mailbox.parked.length === 0 ? null : r.mailbox.parked.map((m) => parkedWords(r, m)).join("; ")],
    [
      "tidemark",
      r.tidemark === null ? null : `${r.tidemark.position} of ${r.tidemark.internal} read, ${r.tidemark.skips} skipped`,
    ],
    ["options", r.options === null ? null : JSON.stringify(r.options)],
    ["cursor", r.cursor === null ? null : JSON.stringify(r.cursor)],
  ];
  const pulls = r.pulls
    .slice(0, 10)
    .map((p) => [
      at(p.started_at),
      p.outcome,
      formatDuration(p.ms, 1),
      String(p.changed),
      (p.reason ?? "").slice(0, 100),
    ]);
  return [
    r.description ?? `${r.source} ${r.kind} ${r.key}`,
    ...facts.filter(([, value]) => value !== null).map(([name, value]) => `  ${name.padEnd(9)} ${value}`),
    ...(pulls.length === 0 ? [] : ["", ...table(["pull", "outcome", "took", "changed", "reason"], pulls)]),
  ];
}

function parkedWords(r: ResourceAnswer, { seq, error }: MessageAnswer): string {
  return `message ${seq}: ${error?.sentence ?? error?.code ?? "failed"} (tidemark messages retry ${r.resource_id} ${seq})`;
}
