/** The contract between a source and the engine: what a source's author writes, in the words of the glossary. */
import type { Hono } from "hono";
import type { z } from "zod";
import type { Publish } from "./mirror/feed.ts";
import type { Drop, Put } from "./mirror/table.ts";
import type { Db, Queryable, Tx } from "./store/db.ts";

/** How a pull ended, as its source says it; `failed` and `lost` are the engine's words. */
export type Outcome =
  /** `next_ms`: due again after so long, where the source knows better than its schedule. */
  | { outcome: "fresh"; next_ms?: number }
  | { outcome: "more" }
  | { outcome: "later"; wait_ms: number; reason: string }
  | { outcome: "gone"; reason: string };

export type OutcomeName = Outcome["outcome"] | "failed" | "lost";

export const fresh = (next_ms?: number): Outcome => ({
  outcome: "fresh",
  ...(next_ms === undefined ? {} : { next_ms }),
});
export const more = (): Outcome => ({ outcome: "more" });
export const later = (wait_ms: number, reason: string): Outcome => ({ outcome: "later", wait_ms, reason });
export const gone = (reason: string): Outcome => ({ outcome: "gone", reason });

/** Whose allowance a budget is: one for the upstream, or one for each account, host, politeness group or address behind it. */
export type BudgetBy = "upstream" | "credential" | "host" | "group" | "address";

/**
 * An allowance over all workers: `window` is spent as fast as useful and then waits for the reset, `pace` is even with a burst,
 * `gap` lets one call out at a time and the next only some time after the answer.
 */
export type Budget = (
  | { shape: "window"; most: number; period_ms: number }
  | { shape: "pace"; per_second: number; burst: number }
  | { shape: "gap"; gap_ms: number }
) & { by?: BudgetBy };

/** Tokens for an upstream: which of the operator's, where they may be sent, and whose account each is. The source never sees one. */
export interface UpstreamCredentials {
  /** The host that the operator's tokens are given for, as in GITHUB_TOKENS. */
  host: string;
  /** Where they may be sent besides `https://` and that host: origins such as "https://api.github.com". */
  origins?: readonly string[];
  /** The header that carries one; `authorization: Bearer …` unless said. */
  header?(token: string): Record<string, string>;
  /** Whose account a token is, by a call of its own: tokens of one account share its budgets. Without it, each has its own. */
  account?(ask: (url: string) => Promise<Answer>): Promise<string>;
}

/** A remote system to be polite to. */
export interface Upstream {
  name: string;
  /** The one allowance that every call takes from. */
  budget?: Budget;
  /** … or several, by name; a call takes from all of them unless it says from which. */
  budgets?: Record<string, Budget>;
  /** Parts of each budget, as fractions that sum up to 1 at most, kept for calls that name the share. */
  shares?: Record<string, number>;
  /** How many calls may be out at once, over all workers. */
  concurrency?: number;
  /** `false` where many servers are behind one name: one that is down says nothing of the others, and is charged itself. */
  breaker?: false;
  credentials?: UpstreamCredentials;
}

export interface Lane {
  name: string;
  /** How many of its pulls may run at once in one worker. */
  slots?: number;
  /** … and over all workers. */
  fleet?: number;
  order?: "most overdue" | "first come";
}

/** What a schedule may know about a resource. Times are milliseconds of the database's clock. */
export interface ScheduleFacts {
  now_ms: number;
  /** Spreads resources with one period over that period; the same for a resource for ever. */
  phase: number;
  fresh_at_ms: number | null;
  changed_at_ms: number | null;
  viewed_at_ms: number | null;
}

export interface Schedule {
  /** How long until the next pull, and why then. */
  next(facts: ScheduleFacts): { wait_ms: number; why: string };
  /** The period it aims at, where it has one: resources due within a fifth of it may be pulled forward. */
  period_ms?: number;
}

export interface Ref {
  kind: string;
  key: string;
}

export interface Child extends Ref {
  options?: Record<string, unknown>;
}

export interface Post extends Ref {
  message: unknown;
  /** Where in the poster's own order this message stands; the tidemark waits for it. */
  position?: bigint;
}

/** What one pull gives to a statement that it shares with others. */
export interface SharedWrite {
  write(tx: Tx, values: readonly unknown[]): Promise<void>;
  value: unknown;
}

/** A write for `write_together`: it gets what each pull gave, so that many packages are one statement and not many. */
export function together<T>(write: (tx: Tx, values: T[]) => Promise<void>): (value: T) => SharedWrite {
  const shared = (tx: Tx, values: readonly unknown[]) => write(tx, values as T[]);
  return (value) => ({ write: shared, value });
}

/** What commits together, or not at all. */
export interface Batch<Cursor = unknown> {
  put?: Put[];
  drop?: Drop[];
  publish?: Publish[];
  post?: Post[];
  /** What a listing found. Only with `complete` in the last batch of a listing do the missing lose their edge. */
  children?: { found: Child[]; complete?: boolean };
  /** Makes these due at once. */
  touch?: Ref[];
  /** Confirms that these are unchanged, as of the beginning of this pull. */
  vouch?: Ref[];
  cursor?: Cursor;
  progress?: { done: number; total: number };
  /** SQL that nothing above can say; after the fence, no I/O. */
  write?(tx: Tx): Promise<void>;
  /** The same, once for all pulls that commit together: after the records of all of them. Made by `together`. */
  write_together?: SharedWrite;
  /** Ends the pull with this commit, in one transaction with the rest. */
  final?: Outcome;
}

export interface Resource {
  resource_id: bigint;
  source: string;
  kind: string;
  key: string;
  options: Record<string, unknown>;
}

export interface FetchRequest {
  method?: string;
  headers?: Record<string, string>;
  body?: string | Uint8Array;
  /** What the call is expected to cost of each budget that it takes from; 1 unless said. */
  cost?: number;
  /** Which of the upstream's budgets it takes from, and what it costs of each. */
  budgets?: { budget: string; cost?: number }[];
  /** The share that it spends. */
  share?: string;
  /** The politeness group, for budgets kept by group; the host unless said. */
  group?: string;
  /** How long after its answer the next call may come, by how long this one took; never shorter than the gap of the budget. */
  gap_ms?(took_ms: number): number;
  /** The origin at which the host is reached, where that is not where its name leads; the request still says its name. */
  reached_at?: string;
  /** What the call really cost, found in its answer: of the first budget, or by name. */
  settle?(answer: Answer): number | Record<string, number>;
  /**
   * Asks for it only if it changed since this resource's last pull that ended fresh; otherwise the answer is a 304. What the upstream
   * gives to recognise it by (ETag, Last-Modified) is remembered for the resource, with the commit that ends the pull fresh.
   */
  if_changed?: boolean;
  /** Which redirects are followed; none unless said, and then the 3xx is the answer. No credential goes to another host. */
  redirects?: "none" | "same host" | "any";
  /** Statuses that are answers to this call and would be failures elsewhere: a robots.txt may be refused (403) or broken (500). */
  answers?: readonly number[];
  timeout_ms?: number;
  /** Of the body, 32 MiB unless said. */
  bytes_max?: number;
  /** The body of a 200 goes into this new file, for what is too large to be held; then the answer has no bytes. */
  save_to?: string;
}

export interface Answer {
  status: number;
  headers: Record<string, string>;
  bytes: Uint8Array;
  text(): string;
  /** The body as what the schema describes; anything else is UpstreamChanged. */
  json<T>(schema: z.ZodType<T>): T;
}

/** One leased attempt to bring a resource up to date. */
export interface Pull<Cursor = unknown> {
  readonly resource: Resource;
  /** The last committed cursor; moves with each commit. */
  readonly cursor: Cursor;
  readonly fresh_at: string | null;
  /** The number of the listing under way; edges remember it. */
  readonly generation: bigint;
  /** Aborted when the lease is lost, the time is up or the grace period has ended. */
  readonly signal: AbortSignal;
  /** The database's time, estimated. */
  now_ms(): number;
  fetch(url: string, request?: FetchRequest): Promise<Answer>;
  /** Read-only SQL on the mirror. */
  readonly read: Queryable;
}

export interface Unchanged {
  pull: Pull;
  unchanged: boolean;
}

export interface Kind<Cursor = unknown, Message = unknown> {
  upstream: Upstream | ((key: string, options: Record<string, unknown>) => Upstream);
  lane?(cursor: Cursor): Lane;
  /** Of the code that makes records: raise it, and what upstreams call unchanged is fetched and made anew. 0 unless said. */
  version?: number;
  schedule: Schedule | ((options: Record<string, unknown>) => Schedule);
  cursor: z.ZodType<Cursor>;
  options?: z.ZodType<Record<string, unknown>>;
  position?(cursor: Cursor): bigint;
  message?: z.ZodType<Message>;
  /** Messages with the same key coalesce: the latest payload at the earliest position. */
  coalesce?(message: Message): string;
  /** How many messages `receive` gets at most; 100 unless said. */
  receive_most?: number;
  /** Tables whose rows go when the resource is gone for good; each names its owner column. */
  owns?: { name: string; owner?: string }[];
  together?: { most: number; by?(pull: Pull<Cursor>): string };
  probe?(pulls: Pull<Cursor>[]): Promise<Unchanged[]>;
  /** A pull that ends without saying how is fresh. */
  // biome-ignore lint/suspicious/noConfusingVoidType: a generator without a return gives void, and is the usual case
  pull?(pull: Pull<Cursor>): AsyncGenerator<Batch<Cursor>, Outcome | undefined | void>;
  pullTogether?(pulls: Pull<Cursor>[]): AsyncGenerator<{ pull: Pull<Cursor>; batch: Batch<Cursor> }[], void>;
  receive?(messages: Message[], pull: Pull<Cursor>): Promise<Batch<Cursor>>;
}

/** What answers from the mirror may use. */
export interface Context {
  read: Queryable;
  viewed(source: string, ref: Ref): void;
  touch(source: string, ref: Ref): Promise<void>;
  /** Follows what a person asked for, if it is not followed yet, and has it pulled before what is routine. */
  follow(source: string, text: string): Promise<void>;
  /** Puts a message into the mailbox of a resource that is there; false where there is none. */
  post(source: string, post: Post): Promise<boolean>;
  /** Calls outside of pulls, such as for a search, spending a share of an upstream that a source declares. */
  upstream(name: string, share?: string): { fetch(url: string, request?: FetchRequest): Promise<Answer> };
}

export interface Followed extends Ref {
  options?: Record<string, unknown>;
}

export interface SourceMigrations {
  steps: { n: number; name: string; sql: string }[];
}

/** Settings of the engine that sources may use. */
export interface SharedSettings {
  github_url: string | null;
  /** The server that makes vectors of texts; its address is null where there is none. */
  embeddings?: { url: string | null; key: string | null; model: string | null };
  /** The folder of what is kept in files, such as models. */
  data?: string;
}

export interface Source {
  name: string;
  kinds: Record<string, Kind>;
  /** Upstreams that are called outside of pulls, too. */
  upstreams?: Upstream[];
  /** Its own settings, read from TIDEMARK_<SOURCE>_<NAME>. */
  settings?: z.ZodObject;
  /** Called once, before anything else, with those settings as its schema read them, and with those of the engine that sources share. */
  configure?(settings: Record<string, unknown>, shared: SharedSettings): void;
  migrations?: SourceMigrations;
  /** What a person typed, as a resource; or a sentence that says what is wrong with it. */
  follow(text: string): Followed | string;
  /** Called when something is followed, before its resource is there: makes in the database what no pull may make, such as partitions. */
  prepare?(db: Db, followed: Followed): Promise<void>;
  /** Makes a part of what is derived anew from what is mirrored, without a call; `next` names the part after it, null when all is done. */
  rebuild?(db: Db, part: string | null): Promise<{ rows: number; next: string | null }>;
  routes?(app: Hono, context: Context): void;
  describe?(resource: Resource): string;
}

/** Checks a kind's types where it is written and forgets them for the list it goes into. */
export function kind<Cursor, Message = never>(k: Kind<Cursor, Message>): Kind {
  return k as unknown as Kind;
}
