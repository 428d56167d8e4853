/** What the pretend feed of the demo holds: the packages of a made-up company, with a past. */
import { type FeedEvent, NuGetFeed } from "./feed.ts";

const packages: [string, string, string[]][] = [
  ["Contoso.Json", "Reads and writes JSON quickly, without surprises.", ["json", "serialization"]],
  ["Contoso.Json.Schema", "Checks JSON documents against schemas.", ["json", "schema", "validation"]],
  ["Contoso.Json.Patch", "Applies JSON Patch and JSON Merge Patch documents.", ["json", "patch"]],
  ["Contoso.Http", "An HTTP client with retries, budgets and good manners.", ["http", "client", "retry"]],
  ["Contoso.Http.Testing", "Pretend HTTP servers for tests.", ["http", "testing"]],
  ["Contoso.Logging", "Structured logs for services.", ["logging", "structured"]],
  ["Contoso.Logging.Console", "Logs for people at a terminal.", ["logging", "console"]],
  ["Contoso.Data.Postgres", "Access to PostgreSQL that keeps 64-bit numbers whole.", ["postgresql", "database"]],
  ["Contoso.Data.Sqlite", "A small database in a file.", ["sqlite", "database"]],
  ["Contoso.Permits", "Forms and rules for building permits.", ["permit", "government"]],
  ["Contoso.Permits.Pdf", "Prints building permits as PDF.", ["permit", "pdf"]],
  ["Contoso.Queue", "Messages in order, each taking effect once.", ["queue", "messages", "ordering"]],
  ["Contoso.Crash.Reports", "Collects crash dumps and says what they have in common.", ["crash", "diagnostics"]],
  ["Contoso.Text.Search", "Full-text search over documents.", ["search", "text"]],
  ["Contoso.Cli", "A command-line tool for everything above.", ["tool", "cli"]],
];
/** So many other packages, which nobody describes well. */
const OTHERS = 60;
/** Versions of a package that were there before the demo began. */
const VERSIONS = 5;

const leafOf = (description: string, tags: string[], id: string): Record<string, unknown> => ({
  authors: "Contoso",
  description,
  tags,
  ...(id.endsWith(".Cli") ? { packageTypes: [{ name: "DotnetTool" }] } : {}),
});

export const ids = (): string[] => packages.map(([id]) => id);

/** A version as its publisher describes it. */
export function versionOf(id: string, version: string, more: Record<string, unknown> = {}): FeedEvent {
  const [, description, tags] = packages.find(([known]) => known === id) ?? [id, `Parts of ${id}.`, []];
  return { id, version, leaf: { ...leafOf(description, tags, id), ...more } };
}

export function fillContoso(): NuGetFeed {
  const feed = new NuGetFeed();
  feed.page_most = 100;
  const all = [...ids(), ...Array.from({ length: OTHERS }, (_, n) => `Fabrikam.Part${String(n + 1).padStart(2, "0")}`)];
  for (let n = 0; n < VERSIONS; n += 1) {
    for (let at = 0; at < all.length; at += 5)
      feed.commit(
        all.slice(at, at + 5).map((id) => versionOf(id, n === VERSIONS - 1 ? "2.0.0-preview.1" : `1.${n}.0`)),
      );
  }
  feed.commit([
    versionOf("Contoso.Json", "1.0.0", { listed: false }),
    { id: "Fabrikam.Part07", version: "1.1.0", deletes: true },
  ]);
  feed.commit([versionOf("Contoso.Json", "1.0.0")]);
  const holey = { vulnerabilities: [{ advisoryUrl: "https://advisories.example/1", severity: "2" }] };
  const old = {
    deprecation: {
      reasons: ["Legacy"],
      message: "Use Contoso.Data.Postgres.",
      alternatePackage: { id: "Contoso.Data.Postgres", range: "*" },
    },
  };
  feed.commit([
    ...["1.0.0", "2.0.0-preview.1"].map((version) => versionOf("Contoso.Http", version, holey)),
    ...["1.3.0", "2.0.0-preview.1"].map((version) => versionOf("Contoso.Data.Sqlite", version, old)),
  ]);
  return feed;
}
