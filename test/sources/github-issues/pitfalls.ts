/** The causes of the pitfalls B1 to B25, to be put back one at a time: each has a test that goes red. `npm run mutants "pitfall B"` does it. */
import type { Edit, Mutant } from "../../mutants/mutant.ts";

const own = (file: string, find: string, replace: string): Edit => ({
  file: `src/sources/github-issues/${file}`,
  find,
  replace,
});

/** The tests of a file whose names match. */
const named = (file: string, name: string): string[] => [`test/sources/github-issues/${file}.test.ts`, "-t", name];

const causes: Record<string, { what: string; edits: Edit[]; tests: string[] }> = {
  B1: {
    what: "a page of one moment is asked for again and again",
    edits: [own("streams.ts", "first!.updatedAt === last.updatedAt && next.endCursor !== null", "false")],
    tests: named("reading", "B1:"),
  },
  B2: {
    what: "pages go by their place, which shifts when an issue moves to the end",
    edits: [own("streams.ts", "if (first!.updatedAt === last.updatedAt && next.endCursor", "if (next.endCursor")],
    tests: named("reading", "B2:"),
  },
  B3: {
    what: "whether a text has its vector goes by when it was written",
    edits: [
      own(
        "passage-rows.ts",
        "and not exists (select 1 from github_issues.vector v where v.generation = g.generation and v.hash = p.hash)",
        "",
      ),
    ],
    tests: named("reading", "B3:"),
  },
  B4: {
    what: "a look begins where the last one ended",
    edits: [own("streams.ts", "export const OVERLAP_MS = 120_000;", "export const OVERLAP_MS = 0;")],
    tests: named("reading", "B4:"),
  },
  B5: {
    what: "whatever comes last is written",
    edits: [
      own(
        "tables.ts",
        'key: ["resource_id", "number"],\n  owner: "resource_id",\n  newer: "updated_at",',
        'key: ["resource_id", "number"],\n  owner: "resource_id",',
      ),
    ],
    tests: named("reading", "B5:"),
  },
  B6: {
    what: "what is no longer there stays",
    edits: [own("sweep.ts", "await dropIssues(tx, resource_id, lost);", "")],
    tests: named("life", "B6: lets go"),
  },
  "B6, too much": {
    what: "what a page did not show is deleted without asking",
    edits: [own("sweep.ts", "if (data.nodes[n]?.repository.id !== node_id) lost.push(number);", "lost.push(number);")],
    tests: named("life", "B6: deletes nothing"),
  },
  B7: {
    what: "the beginning of time is said",
    edits: [
      own(
        "repository.ts",
        "issuePage(pull.cursor.id!, { since, after,",
        'issuePage(pull.cursor.id!, { since: since ?? "1970-01-01T00:00:00Z", after,',
      ),
    ],
    tests: named("reading", "B7:"),
  },
  B8: {
    what: "only reasons that are known are taken",
    edits: [
      own(
        "rows.ts",
        "given.stateReason?.toLowerCase() ?? null",
        '(given.stateReason === "COMPLETED" ? "completed" : null)',
      ),
    ],
    tests: named("reading", "B8:"),
  },
  B9: {
    what: "comments beyond the first are not read",
    edits: [
      own(
        "rows.ts",
        'page.pageInfo.hasNextPage || n < page.totalCount ? (page.pageInfo.endCursor ?? "") : null',
        'page.totalCount < n ? "" : null',
      ),
    ],
    tests: named("troubles", "B9: more"),
  },
  "B9, in silence": {
    what: "what a wide page says of comments is believed",
    edits: [
      own("sweep.ts", "row.comments !== comments.totalCount &&", "row.comments > comments.totalCount + 1_000 &&"),
    ],
    tests: named("troubles", "B9: comments"),
  },
  B10: {
    what: "holes in a page are passed over",
    edits: [
      own("repository.ts", "if (data.node === null || faults.length > 0) throw", "if (data.node === null) throw"),
      own("rows.ts", "if (there.length === nodes.length) return there;", "if (there.length >= 0) return there;"),
    ],
    tests: named("troubles", "B10: holes"),
  },
  B11: {
    what: "pages keep their size, however long they take",
    edits: [own("repository.ts", "Math.max(PAGE_LEAST, Math.ceil(cursor.size / 2))", "cursor.size")],
    tests: named("troubles", "B11:"),
  },
  B12: {
    what: "being told that the points are spent is a failure like any other",
    edits: [
      {
        file: "src/engine/answer.ts",
        find: "if (status === 200 && saysLimited(answer))",
        replace: "if (status === 201 && saysLimited(answer))",
      },
    ],
    tests: named("troubles", "B12: when"),
  },
  B13: {
    what: "each token has an allowance of its own",
    edits: [
      {
        file: "src/github/api.ts",
        find: ".json(User).login,",
        replace: ".json(User).login + String(performance.now()),",
      },
    ],
    tests: named("troubles", "B13:"),
  },
  B14: {
    what: "what is private is shown",
    edits: [own("filter-rows.ts", "or not r.is_private)", "or true)")],
    tests: named("life", "B14: that turns private"),
  },
  "B14, renamed": {
    what: "two names of one repository are two",
    edits: [own("repository.ts", "if (twin !== null) return gone(", 'if (twin === "") return gone(')],
    tests: named("life", "B14: that is renamed"),
  },
  B15: {
    what: "an edit while its text is embedded is taken for embedded",
    edits: [
      own(
        "embeddings.ts",
        "await noteDimensions(tx, generation, part[0].vector.length);",
        "{ await noteDimensions(tx, generation, part[0].vector.length); await forgetUnembedded(tx, generation, (await readWanted(pull.read, generation, 9)).map((one) => one.hash)); }",
      ),
    ],
    tests: named("embedding", "B15:"),
  },
  B16: {
    what: "a text is embedded once for each issue that has it",
    edits: [
      own("embeddings.ts", 'lane: () => ({ name: "embeddings", fleet: 1 }),', ""),
      own(
        "passage-rows.ts",
        "on conflict (generation, hash) do nothing`);",
        "on conflict (generation, hash) do update set hash = excluded.hash || ''`);",
      ),
      own(
        "embeddings.ts",
        "const answers = await Promise.allSettled(some.map((pack) =>",
        "const answers = await Promise.allSettled([...some, ...some].map((pack) =>",
      ),
    ],
    tests: named("embedding", "B16:"),
  },
  B17: {
    what: "vectors go by the order in which they come",
    edits: [
      own(
        "provider.ts",
        "vectors[index] = unit(embedding);",
        "vectors[data.findIndex((one) => one.index === index)] = unit(embedding);",
      ),
    ],
    tests: named("embedding", "B17: one bad"),
  },
  "B17, poisoned": {
    what: "one bad text spoils its whole call",
    edits: [
      own(
        "embeddings.ts",
        "if (!(thrown instanceof InputsRefused)) throw thrown;\n    if (wanted.length === 1)",
        "if (wanted.length > 1) throw thrown;\n    if (wanted.length === 1)",
      ),
      own(
        "embeddings.ts",
        "return shortened(provider, { share, wanted }, call, thrown);",
        "return shortened(provider, { share, wanted }, call, thrown as InputsRefused);",
      ),
    ],
    tests: named("embedding", "B17: one bad"),
  },
  B18: {
    what: "nothing is kept for searches",
    edits: [
      own(
        "provider.ts",
        "const SHARES = { init: 0.5, search: 0.3, other: 0.2 };",
        "const SHARES = { init: 0.98, search: 0, other: 0.02 };",
      ),
    ],
    tests: named("embedding", "B18: a flood"),
  },
  B19: {
    what: "the newest generation is used before it is whole",
    edits: [
      own("generation-rows.ts", "order by completed_at desc nulls last, generation desc", "order by generation desc"),
    ],
    tests: named("embedding", "B19:"),
  },
  B20: {
    what: "the nearest of all are taken, and then those that fit",
    edits: [
      own(
        "search.ts",
        "const allowed = narrow ? await readAllowed(this.#read, where, ALLOWED_MOST) : null;",
        "const allowed = narrow ? null : null;",
      ),
      own("search.ts", "const OVERSAMPLED = 5_000;", "const OVERSAMPLED = 40;"),
    ],
    tests: named("search", "PostgreSQL.*B20:"),
  },
  B21: {
    what: "the very text counts like any other words",
    edits: [
      own("ranking.ts", "(one.exact > 0 ? 1 + one.exact / 20 : 0)", "0 * one.exact"),
      own("keyword-rows.ts", "order by exact desc, score desc,", "order by score desc,"),
    ],
    tests: named("search", "PostgreSQL.*B21: the very"),
  },
  "B21, nonsense": {
    what: "the nearest are shown, however far they are",
    edits: [own("ranking.ts", "if (!known && similarity < least) continue;", "")],
    tests: named("search", "PostgreSQL.*B21: nonsense"),
  },
  B22: {
    what: "an operator counts anywhere in a word",
    edits: [
      own(
        "search-request.ts",
        "if (name !== undefined && operator === undefined) {",
        "if (name !== undefined && operator === undefined && !/title$/.test(name)) {",
      ),
    ],
    tests: ["src/sources/github-issues/search-request.test.ts"],
  },
  B23: {
    what: "each page is ranked anew",
    edits: [
      own(
        "search.ts",
        'if (after !== "") return this.#show(readRanking(after), limit',
        'if (after !== "" && limit < 0) return this.#show(readRanking(after), limit',
      ),
      own(
        "search.ts",
        "return this.#show(await this.#ranked(fuse(byWords, byMeaning.near, text, least), where), limit, text, byMeaning);",
        'const all = await this.#ranked(fuse(byWords, byMeaning.near, text, least), where);\n    return this.#show(after === "" ? all : all.slice(all.length - readRanking(after).length), limit, text, byMeaning);',
      ),
    ],
    tests: named("search", "PostgreSQL.*B23: pages"),
  },
  B24: {
    what: "labels are never looked at again",
    edits: [
      own(
        "sweep.ts",
        "const put = [labels.rows(named.map((label) => labelRow(resource_id, label)))];",
        "const put = [labels.rows(named.slice(0, 0).map((label) => labelRow(resource_id, label)))];",
      ),
    ],
    tests: named("life", "B24:"),
  },
  B25: {
    what: "a text that failed keeps its repository from being searched",
    edits: [
      own(
        "status.ts",
        "if (row.initialised_at === null) return",
        "if (row.initialised_at === null || (embedded ?? 1) < 1) return",
      ),
    ],
    tests: named("embedding", "B25:"),
  },
};

export const pitfalls: Mutant[] = Object.entries(causes).map(([no, { what, edits, tests }]) => ({
  name: `pitfall ${no}: ${what}`,
  edits,
  tests,
}));
