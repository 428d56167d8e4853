/** The causes of the pitfalls C1 to C27, to be put back one at a time: each has a test that goes red. `npm run mutants web` does it. */

interface Edit {
  file: string;
  find: string;
  replace: string;
}

const own = (file: string, find: string, replace: string): Edit => ({ file: `src/sources/web/${file}`, find, replace });
const sql = (find: string, replace: string): Edit => own("migrations/0001_web.sql", find, replace);

/** The tests of a file whose names match. */
const flow = (file: string, name: string): string[] => [`test/sources/web/${file}.test.ts`, "-t", name];
const unit = (file: string, name: string): string[] => [`src/sources/web/${file}.test.ts`, "-t", name];

const causes: Record<string, { what: string; edits: Edit[]; tests: string[] }> = {
  C1: {
    what: "a robots.txt that fails allows everything",
    edits: [own("robots-visit.ts", "< UNREACHABLE_MS_MAX)", "< 0)")],
    tests: flow("robots", "that fails with 500"),
  },
  C2: {
    what: "the first rule that fits decides",
    edits: [own("robots.ts", "pattern.length < longest ||", "longest >= 0 ||")],
    tests: unit("robots", "C2: rules"),
  },
  C3: {
    what: "no gap is kept",
    edits: [own("calling.ts", "own && delay_ms === 0 ?", "true ?")],
    tests: flow("pacing", "C3"),
  },
  C4: {
    what: "a slow host is called as often as a quick one",
    edits: [own("calling.ts", "const SLOWNESS = 2;", "const SLOWNESS = 0;")],
    tests: flow("pacing", "C4"),
  },
  C5: {
    what: "each host has a gap of its own",
    edits: [own("calling.ts", 'settings.apart_by === "host" ? name : siteOf(hostname)', "name")],
    tests: flow("pacing", "share a gap where they are of one domain"),
  },
  C6: {
    what: "a host that has to wait keeps its slot",
    edits: [{ file: "src/engine/grant-line.ts", find: "WAIT_HERE_MS = 250;", replace: "WAIT_HERE_MS = 60_000;" }],
    tests: flow("pacing", "lets small ones be done"),
  },
  C7: {
    what: "pages that fail are the pages' trouble alone",
    edits: [
      own(
        "page-visit.ts",
        "    if (thrown !== null) throw thrown;",
        "    if (thrown !== null && !isDown(thrown)) throw thrown;",
      ),
    ],
    tests: flow("pacing", "or fails again and again"),
  },
  C8: {
    what: "validators are sent whatever is stored",
    edits: [own("page-visit.ts", "page.has_content && page.extractor === EXTRACTOR &&", "")],
    tests: flow("visits", "is fetched whole where it was extracted by other code"),
  },
  C9: {
    what: "a page is never fetched whole again",
    edits: [own("page-visit.ts", "(page.unchanged + 1) % WHOLE_EVERY !== 0", "true")],
    tests: flow("visits", "C9: is fetched whole now and then"),
  },
  C10: {
    what: "an interval never grows shorter",
    edits: [own("revisit.ts", "const SHORTER = 0.5;", "const SHORTER = 1;")],
    tests: unit("revisit", "C10"),
  },
  C11: {
    what: "one 404 takes a page away",
    edits: [own("visit.ts", "const MISSING_LEAST = 3;", "const MISSING_LEAST = 1;")],
    tests: flow("visits", "stays found after one 404"),
  },
  C12: {
    what: "a page that another stands for is found beside it",
    edits: [sql("(g.canonical is null or not exists (", "(true or not exists (")],
    tests: flow("visits", "is not found beside it"),
  },
  C13: {
    what: "parameters stay in the order in which they come",
    edits: [own("url.ts", ".sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : a.n - b.n))", "")],
    tests: unit("url", "C13"),
  },
  C14: {
    what: "URLs that look alike are not counted",
    edits: [sql("k.shape is null or coalesce(s.urls, 0)", "true or coalesce(s.urls, 0)")],
    tests: flow("frontier", "a calendar without end"),
  },
  C15: {
    what: "everything is UTF-8",
    edits: [
      own(
        "document.ts",
        "const text = new TextDecoder(encoding).decode(bytes);",
        'const text = new TextDecoder("utf-8").decode(bytes);',
      ),
    ],
    tests: unit("document", "C15"),
  },
  C16: {
    what: "a body that cannot be read stops the host",
    edits: [own("page-visit.ts", "if (isPages(thrown)) return", "if (thrown === null) return")],
    tests: flow("formats", "more than is taken"),
  },
  C17: {
    what: "private addresses are called",
    edits: [
      {
        file: "src/outbound/guard.ts",
        find: "const what = this.#allows(address) ? null : this.#useOf(address);",
        replace: "const what = this.#allows(address) || address ? null : this.#useOf(address);",
      },
    ],
    tests: flow("frontier", "C17"),
  },
  C18: {
    what: "a sitemap is believed about the future",
    edits: [own("sitemap.ts", "if ((entry.lastmod_ms ?? 0) > now_ms)", "if (now_ms < 0)")],
    tests: unit("sitemap", "is not believed about the future"),
  },
  C19: {
    what: "the end of a range is its last number",
    edits: [
      own(
        "domain64.ts",
        "return range(first, first + (1n << width));",
        "return range(first, first + (1n << width) - 1n);",
      ),
    ],
    tests: unit("domain64", "C19"),
  },
  C20: {
    what: "the scope is a condition that no planner understands",
    edits: [
      own("search-rows.ts", "sql`s.domain64 >= $", "sql`s.domain64 + 0 >= $"),
      own("search-rows.ts", "sql`and s.domain64 < $", "sql`and s.domain64 + 0 < $"),
    ],
    tests: flow("search", "C20"),
  },
  C21: {
    what: "what people type is taken for a query as it stands",
    edits: [
      own(
        "search-rows.ts",
        "const queryOf = (q: string): Sql => sql`websearch_to_tsquery(",
        "const queryOf = (q: string): Sql => sql`to_tsquery(",
      ),
    ],
    tests: flow("search", "C21"),
  },
  C22: {
    what: "a title weighs as much as the rest",
    edits: [own("search-rows.ts", '"{0.1, 0.2, 0.4, 1.0}"', '"{1.0, 0.1, 0.1, 0.1}"')],
    tests: flow("search", "C22"),
  },
  C23: {
    what: "everything is ranked",
    edits: [
      own("search-rows.ts", "export const CANDIDATES_MOST = 2_000;", "export const CANDIDATES_MOST = 2_000_000;"),
    ],
    tests: flow("search", "C23"),
  },
  C24: {
    what: "snippets are not escaped",
    edits: [own("search.ts", "const parts = escapeHtml(", "const parts = String(")],
    tests: flow("search", "C24"),
  },
  C25: {
    what: "a page that is replaced is put beside what it was",
    edits: [
      sql("primary key (domain64, page_id, part)", "id bigint generated by default as identity"),
      sql(
        "on conflict (domain64, page_id, part) do update set words = excluded.words where s.words is distinct from excluded.words",
        "",
      ),
    ],
    tests: flow("visits", "C25"),
  },
  C26: {
    what: "that a page was visited is written before what it says",
    edits: [own("page-visit.ts", "blocks !== null && blocks.length > 0);", "blocks !== null && blocks.length > 9);")],
    tests: flow("crash", "C26"),
  },
  C27: {
    what: "dates are read as JavaScript reads them",
    edits: [
      own(
        "visit.ts",
        'parseHttpDate(headers["last-modified"] ?? "", now_ms)',
        'Number.parseInt(headers["last-modified"] ?? "", 10) || null',
      ),
    ],
    tests: flow("visits", "C27"),
  },
};

export const web_pitfalls = Object.entries(causes).map(([no, { what, edits, tests }]) => ({
  name: `web pitfall ${no}: ${what}`,
  edits,
  tests,
}));
