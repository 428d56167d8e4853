/** What the parts of this source share. */
import type { Upstream } from "tidemark";
import type { Job } from "./analyse-job.ts";
import type { Report } from "./report.ts";
import type { Settings } from "./settings.ts";

export interface RepositoryParts {
  settings(): Settings;
  upstream(host: string): Upstream;
  /** Work of this machine that takes a while; tests stop their clock for it. */
  aside<T>(work: () => Promise<T>): Promise<T>;
  /** In a process of its own, unless a test says otherwise. */
  analyse(job: Job, signal: AbortSignal): Promise<Report>;
}
