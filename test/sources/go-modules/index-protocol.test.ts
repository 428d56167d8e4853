/** The index over HTTP, on both databases: what index.golang.org promises, and what we add to it. */
import { readFileSync } from "node:fs";
import sql from "sql-template-tag";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { stores } from "../../postgres.ts";
import { IndexRig, linesOf, many } from "./index-rig.ts";

describe.each(stores)("the index, on $store", ({ open }) => {
  let rig: IndexRig;
  const x = "github.com/acme/x";

  const text = async () => (await rig.get("/go/index")).text();
  /** A version with a stamp that was not given by the feed. */
  const put = (path: string, version: string, at: string) =>
    rig.db.query(sql`
      insert into go_modules.version (path, version, resource_id, tag, commit_oid, published_at)
      values (${path}, ${version}, 1, 'v', 'c', ${at}::timestamptz)`);

  beforeAll(async () => {
    rig = await IndexRig.open(open);
  });
  beforeEach(() => rig.reset());

  it("is empty at first, and not an error", async () => {
    const answer = await rig.get("/go/index");
    expect(answer.status).toBe(200);
    expect(await answer.text()).toBe("");
  });

  it("has one line for each version, in the order in which they were published, and says what it is", async () => {
    for (const name of [`${x}@v1.0.0`, `${x}@v1.1.0`, "github.com/Acme/A@v0.1.0"]) await rig.publish(name);
    const answer = await rig.get("/go/index");
    expect(answer.headers.get("content-type")).toBe("application/x-ndjson");
    expect(await answer.text()).toMatch(
      /^(\{"Path":"[^"]+","Version":"[^"]+","Timestamp":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{0,5}[1-9])?Z"\}\n){3}$/,
    );
    // A21: the path keeps its capitals.
    expect(await rig.names()).toEqual([`${x}@v1.0.0`, `${x}@v1.1.0`, "github.com/Acme/A@v0.1.0"]);
  });

  it("is what index.golang.org sent, byte for byte, where it has the same versions", async () => {
    const fixture = new URL("../../../src/sources/go-modules/fixtures/index-page.ndjson", import.meta.url);
    const sent = readFileSync(fixture, "utf8");
    for (const { Path, Version, Timestamp } of linesOf(sent)) await put(Path, Version, Timestamp);
    expect(await text()).toBe(sent);
  });

  it.each([
    ["2019-04-10T19:08:52.997264Z", "2019-04-10T19:08:52.997264Z"],
    ["2019-04-10T19:08:52.997260Z", "2019-04-10T19:08:52.99726Z"],
    ["2019-04-10T19:08:52.900000Z", "2019-04-10T19:08:52.9Z"],
    ["2019-04-10T19:08:50.000000Z", "2019-04-10T19:08:50Z"],
    ["2019-04-10T00:00:00.000000Z", "2019-04-10T00:00:00Z"],
    ["2019-04-10T00:00:00.000001Z", "2019-04-10T00:00:00.000001Z"],
    ["2019-12-31T23:59:59.999999-05:00", "2020-01-01T04:59:59.999999Z"],
  ])("says %s as Go does: %s (A6)", async (at, said) => {
    await put(x, "v1.0.0", at);
    expect(await text()).toBe(`{"Path":"${x}","Version":"v1.0.0","Timestamp":"${said}"}\n`);
  });

  it.each([
    ["a<b>&c", '"a\\u003cb\\u003e\\u0026c"'],
    ["\u2028\u2029", '"\\u2028\\u2029"'],
    ['"\\\n\r\t\u0001\u007f', '"\\"\\\\\\n\\r\\t\\u0001\u007f"'],
    ["ü/😀", '"ü/😀"'],
  ])("escapes %j as Go's encoder does", async (path, said) => {
    await put(path, "v1.0.0", "2019-04-10T19:08:52Z");
    expect(await text()).toContain(`{"Path":${said},"Version":`);
    expect((await rig.lines())[0]!.Path).toBe(path);
  });

  it("gives back the very entry whose stamp is asked for, first, and nothing older (A6)", async () => {
    await rig.publish(...many(x, 30));
    const all = await rig.lines();
    for (const [i, { Timestamp }] of all.entries())
      expect(await rig.lines(`?since=${Timestamp}`)).toEqual(all.slice(i));
    expect(await rig.lines(`?since=${all[9]!.Timestamp.replace("Z", "001Z")}`)).toEqual(all.slice(10));
  });

  it("stamps every entry apart, by microseconds, in one commit too (A3)", async () => {
    await rig.publish(...many(x, 50));
    const stamps = (await rig.lines()).map((line) => line.Timestamp);
    expect(new Set(stamps).size).toBe(50);
    const { rows } = await rig.db.query<{ published_at: string }>(
      sql`select published_at from go_modules.version order by published_at`,
    );
    const stored = rows.map((r) => r.published_at.replace(/\.?0+Z$/, "Z"));
    expect(stamps).toEqual(stored);
  });

  it("reads since as Go does (A7)", async () => {
    await rig.publish(...many(x, 5));
    await rig.db.query(sql`
      update go_modules.version set published_at = '2019-04-10T19:08:52.000001Z'::timestamptz + split_part(version, '.', 2)::int * interval '1 microsecond'`);
    const count = async (since: string) => (await rig.lines(`?since=${since}`)).length;
    expect(await count("")).toBe(5);
    expect(await count("0001-01-01T00:00:00Z")).toBe(5);
    expect(await count("2019-04-10T12:08:52.000003-07:00")).toBe(3);
    expect(await count("2019-04-10T19:08:52.000003%2B00:00")).toBe(3);
    // A plus that nobody escaped is a space when it arrives.
    expect(await count("2019-04-11T00:38:52.000003+05:30")).toBe(3);
    expect(await count("2019-04-10T19:08:52.000003001Z")).toBe(2);
    expect(await count("2030-01-01T00:00:00Z")).toBe(0);
    expect(await count("9999-12-31T23:59:59-07:00")).toBe(0);
  });

  it.each([
    "since=yesterday",
    "since=%zz",
    "since=2019-02-30T00:00:00Z",
    "limit=0",
    "limit=-1",
    "limit=abc",
    "include=some",
    "prefix=%25",
  ])("answers 400 and a sentence to %s (A7)", async (query) => {
    const before = rig.reads;
    const answer = await rig.get(`/go/index?${query}`);
    expect(answer.status).toBe(400);
    const { error } = (await answer.json()) as { error: { code: string; sentence: string } };
    expect(error.code).toBe("InputInvalid");
    expect(error.sentence).toMatch(/ is not understood\. /);
    expect(rig.reads).toBe(before);
    expect(rig.reads).toBe(rig.reads);
  });

  it("gives 2,000 lines at most, whatever is asked for (A7)", async () => {
    await rig.publish(...many(x, 2_001));
    expect(await rig.lines()).toHaveLength(2_000);
    expect(await rig.lines("?limit=99999")).toHaveLength(2_000);
    expect(await rig.lines("?limit=3")).toHaveLength(3);
    expect(await rig.lines("?limit=1")).toEqual((await rig.lines()).slice(0, 1));
  });

  it("hides what is no longer available unless all is asked for, and moves nothing else (A14)", async () => {
    for (const name of [`${x}@v1.0.0`, "github.com/acme/y@v1.0.0", `${x}@v1.1.0`]) await rig.publish(name);
    const before = await rig.lines();
    await rig.remove("github.com/acme/y");
    expect(await rig.lines()).toEqual([before[0], before[2]]);
    expect(await rig.lines("?include=all")).toEqual(before);
  });

  it("tells no version twice, even if it is published again (A5)", async () => {
    await rig.publish(`${x}@v1.0.0`, `${x}@v1.1.0`, `${x}@v1.0.0`);
    const before = await rig.lines("?include=all");
    await rig.remove(x);
    await rig.publish(`${x}@v1.1.0`, `${x}@v1.2.0`, `${x}@v1.0.0`);
    const after = await rig.lines("?include=all");
    expect(after.slice(0, 2)).toEqual(before);
    expect(new Set(after.map((l) => `${l.Path}@${l.Version}`)).size).toBe(after.length);
  });

  it("can be narrowed to a path and what is below it, on the borders of its parts", async () => {
    const paths = [
      "github.com/acme",
      "github.com/acme-labs/x",
      "github.com/acme/x",
      "github.com/acme/x-y",
      "github.com/acme/x/v2",
    ];
    paths.push("github.com/acme/xy", "github.com/acme.x/z", "github.com/Acme/x", "gopkg.in/x.v2", "example.com/acme/x");
    for (const path of paths) await rig.publish(`${path}@v1.0.0`);
    const under = async (prefix: string, more = "") =>
      (await rig.lines(`?prefix=${prefix}${more}`)).map((line) => line.Path);
    expect(await under("github.com/acme/x")).toEqual(["github.com/acme/x", "github.com/acme/x/v2"]);
    expect(await under("github.com/acme/")).toEqual(
      paths.filter((p) => p === "github.com/acme" || p.startsWith("github.com/acme/")),
    );
    expect(await under("github.com")).toEqual(paths.filter((p) => p.startsWith("github.com/")));
    expect(await under("gopkg.in")).toEqual(["gopkg.in/x.v2"]);
    expect(await under("")).toEqual(paths);
    expect(await under("github.com/acme", "&limit=2")).toEqual(["github.com/acme", "github.com/acme/x"]);
    await rig.remove("github.com/acme/x");
    expect(await under("github.com/acme/x")).toEqual(["github.com/acme/x/v2"]);
    expect(await under("github.com/acme/x", "&include=all")).toEqual(["github.com/acme/x", "github.com/acme/x/v2"]);
    const Timestamp = (await rig.lines("?prefix=github.com/acme/x/v2"))[0]?.Timestamp;
    expect(await under("github.com/acme", `&since=${Timestamp}`)).toEqual([
      "github.com/acme/x/v2",
      "github.com/acme/xy",
    ]);
  });

  it("answers HEAD with the same headers and no body", async () => {
    await rig.publish(`${x}@v1.0.0`);
    const answer = await rig.get("/go/index", { method: "HEAD" });
    expect(answer.status).toBe(200);
    expect(answer.headers.get("content-type")).toBe("application/x-ndjson");
    expect(await answer.text()).toBe("");
  });
});

describe.each(stores)("how fresh the answers are, on $store", ({ open }) => {
  let rig: IndexRig;
  const at = (minute: number) => `2030-01-01T00:0${minute}:00.000000Z`;

  /** What the engine keeps of a resource, as far as it matters here. */
  const know = async (
    key: string,
    fresh_at: string | null,
    marks: "" | "gone_at" | "parked_at" | "paused_at" = "",
    source = "go-modules",
  ) => {
    await rig.db.query(sql`
      insert into tidemark.resource (source, kind, key, gone_at, parked_at, paused_at)
      values (${source}, 'repository', ${key}, case when ${marks} = 'gone_at' then now() end, case when ${marks} = 'parked_at' then now() end,
              case when ${marks} = 'paused_at' then now() end)`);
    await rig.db.query(sql`
      insert into tidemark.upstream (upstream) values ('u') on conflict do nothing`);
    await rig.db.query(sql`
      insert into tidemark.lane (source, name, upstream, urgency) values ('go-modules', 'l', 'u', 'routine') on conflict do nothing`);
    await rig.db.query(sql`
      insert into tidemark.due (resource_id, lane_id, due_at, fresh_at)
      select r.resource_id, l.lane_id, now(), ${fresh_at}::timestamptz from tidemark.resource r, tidemark.lane l where r.key = ${key}`);
  };
  const told = async (path: string) => (await rig.get(path)).headers.get("Tidemark-Fresh-At");

  beforeAll(async () => {
    rig = await IndexRig.open(open);
  });
  beforeEach(() => rig.reset());

  it("is not said before everything was looked at once", async () => {
    expect(await told("/go/index")).toBeNull();
    await know("a", at(1));
    await know("b", null);
    expect(await told("/go/index")).toBeNull();
  });

  it("is the oldest look at anything that is being kept fresh", async () => {
    await know("a", at(3));
    await know("b", at(2));
    await know("c", at(1), "gone_at");
    await know("d", null, "parked_at");
    await know("e", at(1), "paused_at");
    await know("f", at(1), "", "other");
    for (const path of ["/go/index", "/go/status", "/go/moved", "/go/conflicts"]) expect(await told(path)).toBe(at(2));
    expect((await rig.json<{ fresh_at: string }>("/go/status")).fresh_at).toBe(at(2));
  });
});
