/** GitHub issues pass the checks that every source must pass, on both databases. */
import { table } from "tidemark";
import { conformance, type Given } from "tidemark/testing";
import { describe, it } from "vitest";
import { Embeddings } from "../../../src/demo/embeddings/server.ts";
import { GitHub } from "../../../src/demo/github/hub.ts";
import { serverProvider } from "../../../src/sources/github-issues/provider.ts";
import { settings } from "../../../src/sources/github-issues/settings.ts";
import { githubIssues } from "../../../src/sources/github-issues/source.ts";
import { comments, issues, labels, repositories } from "../../../src/sources/github-issues/tables.ts";
import { testDatabase, testEmbedded } from "../../postgres.ts";
import { opening } from "../conforming.ts";
import { asCall } from "../go-modules/rig.ts";

const DAY_MS = 86_400_000;

/** Two repositories: one with a past of three pages, ties and an issue with many comments; one without issues. */
function world(): GitHub {
  const hub = new GitHub({ anonymous: true });
  hub.repository("acme/x");
  hub.repository("acme/none");
  const shelf = hub.issues("acme/x");
  for (let n = 1; n <= 8; n += 1) {
    hub.now_ms += n === 5 ? 0 : DAY_MS;
    shelf.file({
      title: `Crash number ${n}`,
      body: `It crashes at line ${n * 7}.`,
      labels: n % 2 === 0 ? ["bug"] : [],
    });
  }
  for (let n = 0; n < 140; n += 1) shelf.comment(3, `comment ${n} says something of some length`);
  shelf.close(2);
  return hub;
}

const passage = table("github_issues.passage", {
  columns: { resource_id: "bigint", number: "int", part: "int", hash: "text", tokens: "int" },
  key: ["number", "part"],
  owner: "resource_id",
});
const generation = table("github_issues.generation", { columns: { model: "text", dimensions: "int" }, key: ["model"] });
const vector = table("github_issues.vector", { columns: { hash: "text" }, key: ["hash"] });
const unembedded = table("github_issues.unembedded", { columns: { hash: "text" }, key: ["hash"] });

const given: Given = {
  follow: ["acme/x", "acme/none"],
  upstream: () => {
    const hub = world();
    const embeddings = new Embeddings();
    return (asked) => (asked.path.startsWith("/v1/") ? embeddings.answer(asCall(asked)) : hub.answer(asCall(asked)));
  },
  tables: [
    { table: repositories, volatile: ["initialised_at"] },
    { table: issues },
    { table: comments },
    { table: labels },
    { table: passage },
    { table: generation },
    { table: vector },
    { table: unembedded },
  ],
  // How much is asked for at once depends on what went wrong before, and when it was cleaned on the time; a sweep ends where it begins.
  cursor: (cursor) => {
    if (!cursor || typeof cursor !== "object" || "met" in cursor) return "the beginning";
    return { ...cursor, size: 0, cleaned_ms: 0 };
  },
};

describe.each([
  ["on PostgreSQL", testDatabase, { cuts_most: 7, calls_most: 2 }],
  ["embedded", testEmbedded, { cuts_most: 2, calls_most: 1 }],
])("github-issues, %s", (_, store, most) => {
  const source = (url: string) =>
    githubIssues({
      github_url: url,
      page_most: 4,
      split_least: 3,
      provider: serverProvider({ url: `${url}/v1`, key: null, model: "hashing" }, settings.parse({})),
    });
  const checks = conformance(source, { ...given, ...most, open: opening(store) });

  it.each(checks.map((c) => [c.name, c] as const))("%s", { timeout: 240_000 }, (_name, check) => check.run());
});
