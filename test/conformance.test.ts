/** The example of a source passes the checks that every source must pass, on both databases; broken ones do not. */

import { every, fresh, kind, later, type Source, table } from "tidemark";
import { conformance, type Given } from "tidemark/testing";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import * as example from "../examples/bookmarks/source.js";
import { answer } from "../examples/bookmarks/upstream.js";
import { type TestOptions, type TestStore, testDatabase, testEmbedded } from "./postgres.ts";

/** One database for all checks: each run empties it. */
const opening = (store: (options?: TestOptions) => Promise<TestStore>) => {
  let shared: Promise<TestStore> | undefined;
  return async (source: Source) => {
    shared ??= store({ migrations: [{ owner: source.name, steps: source.migrations!.steps }] });
    return { db: (await shared).db, close: async () => undefined };
  };
};

const given: Given = {
  follow: ["ann", "bob"],
  upstream: () => answer,
  tables: [
    { table: example.pages },
    { table: table("bookmarks.seen", { columns: { url: "text", title: "text" }, key: ["url"] }) },
  ],
};

describe.each([
  ["on PostgreSQL", testDatabase, { cuts_most: 100, calls_most: 4 }],
  // The same code on the other database: where it is cut matters less here than that it can be.
  ["embedded", testEmbedded, { cuts_most: 4, calls_most: 1 }],
])("the example of a source, %s", (_, store, most) => {
  const checks = conformance(example.bookmarks, { ...given, ...most, open: opening(store) });

  it.each(checks.map((c) => [c.name, c] as const))("%s", { timeout: 240_000 }, (_name, check) => check.run());
});

it("the example can be loaded as it is", () => {
  expect(example.default.name).toBe("bookmarks");
  expect(example.default.follow("ann")).toEqual({ kind: "shelf", key: "ann" });
  expect(example.default.follow("Ann!")).toMatch(/not the name of a shelf/);
});

describe("a source that is broken", () => {
  const items = table("broken.item", { columns: { id: "int", at: "int" }, key: ["id"] });
  const migrations = {
    steps: [{ n: 1, name: "item", sql: "create schema broken; create table broken.item (id int primary key, at int)" }],
  };
  const Answer = z.object({ items: z.array(z.number()) });
  type Cursor = { n: number };
  type Pulls = NonNullable<Parameters<typeof kind<Cursor>>[0]["pull"]>;

  /** Two parts of a list; how they are pulled is what each test breaks. */
  const broken =
    (make: (url: string) => Pulls) =>
    (url: string): Source => ({
      name: "broken",
      migrations,
      follow: (key) => ({ kind: "list", key }),
      kinds: {
        list: kind<Cursor>({
          upstream: { name: "broken", budget: { shape: "window", most: 3, period_ms: 60_000 } },
          schedule: every("1h"),
          cursor: z.object({ n: z.number() }).default({ n: 0 }),
          pull: make(url),
        }),
      },
    });
  const open = opening(testDatabase);
  const run = (name: string, make: (url: string) => Pulls) => {
    const checks = conformance(broken(make), {
      follow: ["a"],
      upstream: () => (asked) => ({
        body: { items: [Number(asked.query.get("n")) * 2 + 1, Number(asked.query.get("n")) * 2 + 2] },
      }),
      tables: [{ table: items }],
      open,
      calls_most: 2,
    });
    return checks.find((c) => c.name.startsWith(name))!.run();
  };
  const ids = (list: number[], at = 0) => [items.rows(list.map((id) => ({ id, at })))];

  it("is found out when it skips what it has not committed", async () => {
    const pull = (url: string): Pulls =>
      async function* (p) {
        // The cursor runs ahead of the rows: cut between the two, the rows of the first part are never written.
        const first = (await p.fetch(`${url}/?n=0`)).json(Answer).items;
        if (p.cursor.n === 0) yield { cursor: { n: 1 } };
        else return undefined;
        yield { put: ids(first), cursor: { n: 2 } };
        return fresh();
      };
    await expect(run("comes to the same mirror", pull)).rejects.toThrow(/cut after commit/);
  });

  it("is found out when it writes what did not change", async () => {
    let n = 0;
    const pull = (url: string): Pulls =>
      async function* (p) {
        n += 1;
        yield { put: ids((await p.fetch(`${url}/?n=0`)).json(Answer).items, n), final: fresh() };
        return undefined;
      };
    await expect(run("writes nothing", pull)).rejects.toThrow(/the second pull wrote rows/);
  });

  it("is found out when it takes anything for an answer", async () => {
    const pull = (url: string): Pulls =>
      async function* (p) {
        const text = (await p.fetch(`${url}/?n=0`)).text();
        yield { put: ids([text.length]), final: fresh() };
        return undefined;
      };
    await expect(run("commits nothing from a malformed", pull)).rejects.toThrow(/rows were committed|malformed/);
  });

  it("is found out when it takes being told to wait for a failure", async () => {
    const pull = (url: string): Pulls =>
      async function* (p) {
        const answered = await p.fetch(`${url}/?n=0`).catch((error: unknown) => {
          throw new Error(`no answer: ${String(error)}`);
        });
        yield { put: ids(answered.json(Answer).items), final: fresh() };
        return undefined;
      };
    await expect(run("waits when it is told to", pull)).rejects.toThrow(/end with "later"|no failure/);
  });

  it("is found out when it calls its upstream past the engine", async () => {
    const pull = (url: string): Pulls =>
      async function* () {
        const response = await fetch(`${url}/?n=0`);
        yield { put: ids(Answer.parse(await response.json()).items), final: fresh() };
        return undefined;
      };
    await expect(run("recovers", pull)).rejects.toThrow(/past the engine/);
  });

  it("is found out when some of its calls take from no budget", async () => {
    const pull = (url: string): Pulls =>
      async function* (p) {
        const { items: first } = (await p.fetch(`${url}/?n=0`)).json(Answer);
        const { items: second } = (await p.fetch(`${url}/?n=1`, { budgets: [] })).json(Answer);
        yield { put: ids([...first, ...second]), final: fresh() };
        return undefined;
      };
    await expect(run("stays within", pull)).rejects.toThrow(/took from none of its budgets/);
  });

  it("is not found out where nothing is broken", async () => {
    const pull = (url: string): Pulls =>
      async function* (p) {
        for (let n = p.cursor.n; n < 2; n += 1)
          yield { put: ids((await p.fetch(`${url}/?n=${n}`)).json(Answer).items), cursor: { n: n + 1 } };
        return p.cursor.n > 2 ? later(1, "never") : undefined;
      };
    for (const name of [
      "comes to the same",
      "writes nothing",
      "waits",
      "recovers",
      "commits nothing from a mal",
      "stays within",
    ])
      await run(name, pull);
  });
});
