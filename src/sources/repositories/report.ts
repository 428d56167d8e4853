/** What an analysis says, as it is stored and served. */
import { z } from "zod";

/** Raise it when the same commit would be reported on otherwise. */
export const ANALYSER = 1;

const count = z.number().int().nonnegative();

export const Language = z.object({ language: z.string(), files: count, bytes: count, lines: count });
export const Dependency = z.object({
  name: z.string(),
  /** As the manifest says it; null where it says none. */
  version: z.string().nullable(),
  scope: z.enum(["runtime", "development", "optional", "peer", "build"]),
});
export const Manifest = z.object({
  file: z.string(),
  ecosystem: z.string(),
  name: z.string().nullable(),
  dependencies: z.array(Dependency),
  /** Dependencies that were not listed, because there are too many. */
  left_out: count,
});
export const TestCase = z.object({
  name: z.string(),
  line: count,
  /** The suites that it is in, from the outside. */
  suites: z.array(z.string()),
  status: z.enum(["active", "skipped", "focused", "todo"]),
  /** Stands for as many as its data has. */
  parameterised: z.boolean(),
});
export const TestFile = z.object({ file: z.string(), framework: z.string(), suites: count, cases: z.array(TestCase) });
export const Tests = z.object({
  files: z.array(TestFile),
  total_files: count,
  total_suites: count,
  total_cases: count,
  /** Cases that are counted above and not listed. */
  left_out: count,
  frameworks: z.record(z.string(), count),
});
export const Licence = z.object({ spdx: z.string().nullable(), file: z.string().nullable() });
export const Activity = z.object({
  last_commit_at: z.string(),
  /** Counted from there back. */
  within_days: count,
  commits: count,
  contributors: count,
  top: z.array(z.object({ name: z.string(), commits: count })),
  /** By month of UTC, the newest first. */
  months: z.array(z.object({ month: z.string(), commits: count })),
});
export const Size = z.object({
  files: count,
  bytes: count,
  /** Files that were too large, too many or not text, and so not read. */
  not_read: count,
  symlinks: count,
  submodules: count,
});

export const Report = z.object({
  size: Size,
  languages: z.array(Language),
  tests: Tests,
  manifests: z.array(Manifest),
  licence: Licence,
  activity: Activity,
});
export type Report = z.infer<typeof Report>;
export type Language = z.infer<typeof Language>;
export type Manifest = z.infer<typeof Manifest>;
export type Dependency = z.infer<typeof Dependency>;
export type Licence = z.infer<typeof Licence>;
export type Activity = z.infer<typeof Activity>;
export type TestFile = z.infer<typeof TestFile>;
export type TestCase = z.infer<typeof TestCase>;

/** What one manifest says. */
export type Needs = Pick<Manifest, "name" | "dependencies">;
