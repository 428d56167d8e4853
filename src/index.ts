/** The public words: all that a source imports, and what a program needs to run Tidemark inside itself. */
export { type Clock, realClock } from "./clock.ts";
export type {
  Answer,
  Batch,
  Budget,
  Child,
  Context,
  FetchRequest,
  Followed,
  Kind,
  Lane,
  Outcome,
  OutcomeName,
  Post,
  Pull,
  Ref,
  Resource,
  Schedule,
  ScheduleFacts,
  SharedSettings,
  Source,
  SourceMigrations,
  Unchanged,
  Upstream,
} from "./contract.ts";
export { fresh, gone, kind, later, more, together } from "./contract.ts";
export { type DescribedPath, describePaths } from "./described-paths.ts";
export { adaptive, decay, every, type Tier } from "./engine/schedule.ts";
export { type ResourceStatus, readResource } from "./engine/status.ts";
export { follow, type Named, pause, refresh, resume, unfollow } from "./engine/verbs.ts";
export { Worker } from "./engine/worker.ts";
export type { WorkerParts, WorkerSettings } from "./engine/worker-parts.ts";
export { catalogue, type ErrorCode, hasCode, TidemarkError } from "./errors.ts";
export { Events } from "./events.ts";
export {
  askGitHub,
  type GitHubFault,
  type GitHubHost,
  type GitHubPlaces,
  type GitHubQuestion,
  gitHubError,
  gitHubHosts,
  isBadCursor,
  isDown,
  isNotFound,
  points,
  RATE,
} from "./github/api.ts";
export { type GitHubOwner, type GitHubRepository, readGitHubName } from "./github/names.ts";
export { migrationsBeside } from "./migration-files.ts";
export { type Feed, feed, type Publish, readFeed } from "./mirror/feed.ts";
export { type ColumnType, type Drop, type Put, type Row, type Table, table, toJson } from "./mirror/table.ts";
export { type LocalModel, localModel } from "./model/local.ts";
export { parseHttpDate } from "./outbound/http-date.ts";
export type { Db, Queryable, Result, Tx } from "./store/db.ts";
export { openStore } from "./store/open.ts";
export { startThread } from "./store/thread.ts";
