/** Searches find what pages say: by scope, by rank, page by page, whatever people type. */
import sql from "sql-template-tag";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { links } from "../../../src/demo/web/sites.ts";
import { candidatesIn } from "../../../src/sources/web/search-rows.ts";
import { testDatabase } from "../../postgres.ts";
import { migrations, WebRig } from "./rig.ts";

let rig: WebRig;

beforeAll(async () => {
  rig = new WebRig(await testDatabase({ migrations: migrations() }));
  await rig.reset();
  const gsa = rig.sites
    .site("gsa.gov")
    .page("/", "General Services", links("/fleet", "/script", "/many-1", "/many-2", "/many-3"));
  gsa.page("/fleet", "Vehicle fleet", "<p>Every permit for parking is in the body only.</p>");
  gsa.page("/script", "Odd text", "<p>permit &lt;script&gt;alert('x')&lt;/script&gt; &amp; \ue000 more</p>");
  for (const n of [1, 2, 3]) gsa.page(`/many-${n}`, `Many ${n}`, `<p>${"walnut ".repeat(n)} number ${n}</p>`);
  rig.sites.site("tts.gsa.gov").page("/", "Permit office", "<p>Technology for offices.</p>");
  rig.sites.site("www.example.co.uk").page("/", "Permits in Britain", "<p>A licence, rather.</p>");
  await rig.crawl("gsa.gov", "tts.gsa.gov", "www.example.co.uk");
});
afterAll(() => rig.end());

describe("a scope", () => {
  it.each([
    ["", ["https://gsa.gov/fleet", "https://gsa.gov/script", "https://tts.gsa.gov/", "https://www.example.co.uk/"]],
    ["gov", ["https://gsa.gov/fleet", "https://gsa.gov/script", "https://tts.gsa.gov/"]],
    ["gov/gsa", ["https://gsa.gov/fleet", "https://gsa.gov/script", "https://tts.gsa.gov/"]],
    ["gov/gsa/tts", ["https://tts.gsa.gov/"]],
    ["gov/gsa/_", ["https://gsa.gov/fleet", "https://gsa.gov/script"]],
    ["uk/example.co", ["https://www.example.co.uk/"]],
    ["GOV/GSA/TTS/", ["https://tts.gsa.gov/"]],
  ])("in=%s", async (scope, expected) => {
    expect((await rig.urls("permit", `&in=${scope}`)).sort()).toEqual(expected);
  });

  it("C19: has the document's own numbers, as text", async () => {
    const [tts] = (await rig.search("permit", "&in=gov/gsa/tts")).results;
    expect(tts!.domain64).toBe("72057598332895488");
    expect((await rig.search("fleet", "&in=gov/gsa")).results[0]!.domain64).toBe("72057598332895232");
    const numbers = (await (await rig.get("/web/domain64")).json()) as Record<string, unknown>;
    expect(numbers).toMatchObject({
      "01": { name: "gov", children: { "000001": { name: "gsa", children: { "000001": { name: "tts" } } } } },
    });
  });

  it("C20: of a domain or less leads to one partition, by bind parameters, planned once or each time", async () => {
    const range = { from: 72057598332895488n, until: 72057598332895744n };
    const statement = candidatesIn("permit", range, 100);
    const explain = async () =>
      (
        await rig.db.query<{ "QUERY PLAN": string }>(
          sql`explain (analyze, costs off, timing off, summary off) ${statement}`,
        )
      ).rows
        .map((row) => row["QUERY PLAN"])
        .join("\n");
    const partitions = (plan: string) => new Set([...plan.matchAll(/on (search_\w+) s/g)].map(([, name]) => name));
    expect(partitions(await explain())).toEqual(new Set(["search_1_1"]));
    await rig.db.transaction(async (tx) => {
      await tx.query(sql`set local plan_cache_mode = force_generic_plan`);
      const { rows } = await tx.query<{ "QUERY PLAN": string }>(
        sql`explain (analyze, costs off, timing off, summary off) ${statement}`,
      );
      expect(partitions(rows.map((row) => row["QUERY PLAN"]).join("\n"))).toEqual(new Set(["search_1_1"]));
    });
  });
});

describe("what is found", () => {
  it("C22: has its words in one page, wherever they stand, and the title counts most", async () => {
    expect(await rig.urls("vehicle parking")).toEqual(["https://gsa.gov/fleet"]);
    expect((await rig.urls("permit", "&in=gov"))[0]).toBe("https://tts.gsa.gov/");
  });

  it("C24: is shown with everything escaped but the marks", async () => {
    const { snippet } = (await rig.search("permit alert")).results[0]!;
    expect(snippet).toContain("<mark>permit</mark> &lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;");
    expect(snippet.replace(/<\/?mark>/g, "")).not.toMatch(/[<>]/);
  });

  it("comes page by page, each once, in the same order", async () => {
    const all = await rig.urls("walnut");
    expect(all).toHaveLength(3);
    const one: string[] = [];
    let next = "";
    do {
      const answer = await rig.search("walnut", `&limit=1${next}`);
      one.push(...answer.results.map(({ url }) => url));
      next = answer.next === null ? "" : `&after=${answer.next}`;
    } while (next !== "");
    expect(one).toEqual(all);
  });

  it("takes quotes, OR and minus", async () => {
    expect(await rig.urls('"number 2"')).toEqual(["https://gsa.gov/many-2"]);
    expect(await rig.urls("walnut -2 -3")).toEqual(["https://gsa.gov/many-1"]);
    expect((await rig.urls("fleet OR licence")).sort()).toEqual([
      "https://gsa.gov/fleet",
      "https://www.example.co.uk/",
    ]);
  });

  it("says how fresh it is, and how many were ranked", async () => {
    const response = await rig.get("/web/search?q=permit");
    expect(response.headers.get("tidemark-fresh-at")).toBeTruthy();
    expect(await response.json()).toMatchObject({
      total: { pages: 4, exact: true },
      ranked: { pages: 4, capped: false },
      suggestions: [],
    });
  });
});

describe("C21: whatever is typed", () => {
  it.each([
    "c++ & (foo",
    '"unclosed',
    "'",
    "\\",
    "a:*b",
    "!",
    "|",
    "<->",
    "😀",
    "ä ö ü",
    "x".repeat(5_000),
    "a\u0000b",
    "(((",
    "-",
    "the",
    "-permit",
    "\ud800",
  ])("%j is answered, or refused with a sentence", async (q) => {
    const response = await rig.get(`/web/search?q=${encodeURIComponent(q.toWellFormed())}`);
    expect([200, 400]).toContain(response.status);
  });

  it("5,000 characters are answered", async () => {
    expect((await rig.get(`/web/search?q=${"x".repeat(5_000)}`)).status).toBe(200);
  });

  it.each(["", "q=", "q=x&limit=0", "q=x&limit=1000", "q=x&after=nonsense", "q=x&in=a/b/c/d"])(
    "%s gets a sentence",
    async (query) => {
      const response = await rig.get(`/web/search?${query}`);
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({ error: { sentence: expect.any(String) } });
    },
  );
});

describe("nothing found", () => {
  it("suggests a wider scope, fewer words and another spelling", async () => {
    expect((await rig.search("fleet", "&in=uk/example.co")).suggestions).toContainEqual({
      q: "fleet",
      in: null,
      why: "found elsewhere",
    });
    expect((await rig.search("fleet unheard")).suggestions).toContainEqual({
      q: "fleet",
      in: null,
      why: "fewer of the words",
    });
    expect((await rig.search("vehicel")).suggestions).toContainEqual({
      q: "vehicle",
      in: null,
      why: "spelt as in a title",
    });
    expect(await rig.search("permit", "&in=gov/nobody")).toMatchObject({ results: [], suggestions: [{ in: null }] });
  });
});

describe("rebuilding", () => {
  it("makes what is found anew from what is stored, without a call", async () => {
    const before = await rig.urls("permit");
    await rig.db.query(sql`delete from web.search`);
    expect(await rig.urls("permit")).toEqual([]);
    const asked = rig.sites.log.length;
    let part: string | null = null;
    let rows = 0;
    do {
      const done: { rows: number; next: string | null } = await rig.source.rebuild!(rig.db, part);
      rows += done.rows;
      part = done.next;
    } while (part !== null);
    expect(rows).toBeGreaterThan(5);
    expect(await rig.urls("permit")).toEqual(before);
    expect(rig.sites.log).toHaveLength(asked);
    await expect(rig.source.rebuild!(rig.db, "x")).rejects.toThrow("no part");
  });
});

it("C23: of a word that is everywhere so many are ranked, from each partition, and the answer says so", async () => {
  await rig.db.query(sql`
    with made as (
      insert into web.guestbook (resource_id, domain64, next_fetch, host_id, interval_s, path, status, content_hash, last_fetched)
      select h.resource_id, h.domain64, 'infinity', h.host_id, 86400, '/bulk' || n, 200, decode(lpad(to_hex(n), 32, '0'), 'hex'), tidemark.now()
        from web.host h, generate_series(1, 2500) n where h.host in ('gsa.gov', 'www.example.co.uk')
      returning page_id, resource_id, domain64, path
    ), said as (
      insert into web.content (page_id, resource_id, tags, texts) select page_id, resource_id, array[1, 2], array[path, 'ubiquitous'] from made
    )
    insert into web.search (domain64, page_id, part, words) select domain64, page_id, 0, to_tsvector('english', 'ubiquitous') from made`);
  await rig.db.query(sql`analyze web.search`);
  const answer = await rig.search("ubiquitous", "&limit=100");
  expect(answer.ranked).toEqual({ pages: 2_000, capped: true });
  expect(answer.total).toMatchObject({ exact: false });
  expect(answer.total.pages).toBeGreaterThan(2_000);
  const within = await rig.search("ubiquitous", "&in=gov/gsa");
  expect(within).toMatchObject({ ranked: { pages: 2_000, capped: true }, total: { exact: false } });
});
