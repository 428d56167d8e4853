/** Repositories pass the checks that every source must pass, on both databases. */
import { conformance, type Given, type VirtualClock } from "tidemark/testing";
import { afterAll, beforeAll, describe, it } from "vitest";
import { answerGit } from "../../../src/demo/git/backend.ts";
import { GitHost } from "../../../src/demo/git/host.ts";
import { analyses, repositories } from "../../../src/sources/repositories/tables.ts";
import { testDatabase, testEmbedded } from "../../postgres.ts";
import { inOrderOf, opening } from "../conforming.ts";
import { HOST, unhurried } from "./rig.ts";

let host: GitHost;

/** Two repositories with a past, and one without a commit: half an answer that is only a status is as good as a whole one. */
beforeAll(async () => {
  host = await GitHost.open();
  for (const name of ["one", "two", "empty"]) await host.create(`acme/${name}`);
  for (const [n, name] of ["one", "two"].entries())
    await host.push(
      `acme/${name}`,
      { files: { "a.py": "a = 1\n" }, at_s: 1_700_000_000 },
      { files: { "test_a.py": `def test_${n}():\n    pass\n` }, at_s: 1_700_100_000 },
    );
});
afterAll(() => host.close());

const given: Given = {
  follow: ["one", "two", "empty"].map((name) => `${HOST}/acme/${name}`),
  upstream:
    () =>
    ({ method, path, query, headers, body }) =>
      answerGit(host, { method, path, query: query.toString(), headers, body }),
  tables: [
    { table: inOrderOf(repositories, "key"), volatile: ["head_at", "analysed_at"] },
    { table: inOrderOf(analyses, "commit_oid"), volatile: ["analysed_at", "ms", "pack_bytes"] },
  ],
};

describe.each([
  ["on PostgreSQL", testDatabase, { cuts_most: 6, calls_most: 3 }],
  ["embedded", testEmbedded, { cuts_most: 2, calls_most: 1 }],
])("repositories, %s", (_, store, most) => {
  const source = (url: string, clock: VirtualClock) => unhurried(clock, { reached_at: `${HOST}=${url}` });
  const checks = conformance(source, { ...given, ...most, open: opening(store) });

  it.each(checks.map((c) => [c.name, c] as const))("%s", { timeout: 240_000 }, (_name, check) => check.run());
});
