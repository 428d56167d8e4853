/** The causes of the pitfalls D1 to D27, to be put back one at a time: each has a test that goes red. `npm run mutants "pitfall D"` does it. */

interface Edit {
  file: string;
  find: string;
  replace: string;
}

const own = (file: string, find: string, replace: string): Edit => ({
  file: `src/sources/nuget/${file}`,
  find,
  replace,
});

/** The tests of a file whose names match. */
const named = (file: string, name: string): string[] => [`test/sources/nuget/${file}.test.ts`, "-t", name];
const beside = (file: string, name: string): string[] => [`src/sources/nuget/${file}.test.ts`, "-t", name];

const causes: Record<string, { what: string; edits: Edit[]; tests: string[] }> = {
  D1: {
    what: "timestamps are kept to the millisecond",
    edits: [own("stamp.ts", 'fraction.slice(0, 7).padEnd(7, "0")', 'fraction.slice(0, 3).padEnd(7, "0")')],
    tests: named("catalog", "D1:"),
  },
  D2: {
    what: "fractions are compared as they are written",
    edits: [own("stamp.ts", 'fraction.slice(0, 7).padEnd(7, "0")', 'fraction.slice(0, 7) || "0"')],
    tests: beside("stamp", "D2:"),
  },
  D3: {
    what: "items are taken in the order of their page",
    edits: [own("page-reading.ts", "latestOnly(inOrder(added), odd)", "latestOnly(added, odd)")],
    tests: named("catalog", "D3:"),
  },
  "D3, pages": {
    what: "pages are taken in the order of their index",
    edits: [
      own(
        "catalog.ts",
        ".sort((a, b) => (a.ticks < b.ticks ? -1 : a.ticks > b.ticks ? 1 : a.url < b.url ? -1 : 1));",
        ".slice();",
      ),
    ],
    tests: named("catalog", "D3:"),
  },
  D4: {
    what: "the event that is handled last wins",
    edits: [own("version-state.ts", "return event.ticks > before.ticks;", "return true;")],
    tests: beside("version-state", "D4:"),
  },
  D5: {
    what: "one package after the other",
    edits: [own("package.ts", '({ name: "packages" })', '({ name: "packages", slots: 1 })')],
    tests: named("packages", "D5:"),
  },
  D6: {
    what: "a version twice in one commit is refused",
    edits: [
      own(
        "page-reading.ts",
        "if (earlier?.ticks === item.ticks) odd(",
        "if (earlier?.ticks === item.ticks) throw new Error(",
      ),
    ],
    tests: named("catalog", "D6:"),
  },
  "D6, either": {
    what: "of a version twice in one commit any wins",
    edits: [own("catalog-documents.ts", "a.leaf < b.leaf ? -1 : a.leaf > b.leaf ? 1 : 0", "0")],
    tests: named("catalog", "D6:"),
  },
  D7: {
    what: "the newest commit is taken for whole",
    edits: [own("catalog.ts", "closed: reading.newest <= newest,", "closed: true,")],
    tests: named("catalog", "D7:"),
  },
  D8: {
    what: "items are new by their time alone",
    edits: [
      own(
        "page-reading.ts",
        'all.filter((_, i) => !before.has(hashes[i]!.toString("latin1")))',
        "all.filter((item) => item.ticks > internal)",
      ),
    ],
    tests: named("catalog", "D8:"),
  },
  D9: {
    what: "a page with a wrong count is refused",
    edits: [
      own(
        "page-reading.ts",
        "if (page.count !== page.items.length) odd(",
        "if (page.count !== page.items.length) throw new Error(",
      ),
    ],
    tests: named("catalog", "D9:"),
  },
  D10: {
    what: "an item of any type is a version",
    edits: [own("catalog-documents.ts", 'if (!deletes && !types.includes("PackageDetails"))', "if (1 > 2)")],
    tests: named("catalog", "D10:"),
  },
  D11: {
    what: "what does not say whether it is listed is",
    edits: [own("leaf.ts", "return published === null || yearOf(published) !== 1900;", "return true;")],
    tests: named("packages", "D11:"),
  },
  D12: {
    what: "versions are the same when they are written alike",
    edits: [own("leaf.ts", "return version ? versionKey(version) : text.trim()", "return text.trim()")],
    tests: named("packages", "D12:"),
  },
  "D12, ids": {
    what: "ids are the same when they are written alike",
    edits: [own("catalog-documents.ts", "lower_id: lowerId(id),", "lower_id: id,")],
    tests: named("packages", "D12:"),
  },
  "D12, back": {
    what: "what was deleted stays deleted",
    edits: [
      own(
        "version-state.ts",
        "deleted: event.deletes === true,",
        "deleted: event.deletes === true || event.ticks > 3n,",
      ),
    ],
    tests: named("packages", "D12:"),
  },
  D13: {
    what: "each event is a version of its own",
    edits: [
      own("version-state.ts", "version_key: event.version_key,", "version_key: event.version_key + event.stamp,"),
    ],
    tests: named("packages", "D13:"),
  },
  D14: {
    what: "a range that is a list is refused",
    edits: [
      own(
        "version-range.ts",
        "if (Array.isArray(given)) return readRange(given[0]);",
        'if (Array.isArray(given)) throw new Error("a range is a text");',
      ),
    ],
    tests: named("packages", "D14:"),
  },
  D15: {
    what: "a leaf that is missing is passed over in silence",
    edits: [
      own(
        "package.ts",
        "if (answer.status !== 200) throw",
        "if (answer.status !== 200) return Leaf.parse({});\n  if (false) throw",
      ),
    ],
    tests: named("packages", "D15:"),
  },
  D16: {
    what: "a page counts as read before its items are posted",
    edits: [
      own(
        "catalog-writing.ts",
        "  yield {\n    put: [pages.rows([row]), commits",
        "  yield { put: [pages.rows([row])], cursor: { ...pull.cursor, reads: pull.cursor.reads + 1 } };\n  yield {\n    put: [pages.rows([row]), commits",
      ),
    ],
    tests: named("conformance", "PostgreSQL comes to the same mirror"),
  },
  D17: {
    what: "the public cursor does not wait for events",
    edits: [own("catalog-writing.ts", "...(again ? {} : { position: from }),", "")],
    tests: named("packages", "D17:"),
  },
  D18: {
    what: "search shows what registration has no more",
    edits: [
      own(
        "package-row.ts",
        "v.lower_id = g.lower_id and not v.deleted and v.listed and ",
        "v.lower_id = g.lower_id and ",
      ),
    ],
    tests: named("search", "D18:"),
  },
  D19: {
    what: "labels are compared with their case",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is code
    edits: [own("version.ts", "b${label.toLowerCase()}!", "b${label}!")],
    tests: beside("version", "D19:"),
  },
  D20: {
    what: "a dependency makes nothing SemVer 2",
    edits: [own("version-range.ts", "bound !== null && isSemVer2(bound)", 'bound?.metadata === "never"')],
    tests: named("api", "D20:"),
  },
  D21: {
    what: "pages are documents of their own one version later",
    edits: [own("documents.ts", "const INLINE_BELOW = 128;", "const INLINE_BELOW = 129;")],
    tests: named("api", "D21:"),
  },
  D22: {
    what: "what is not listed cannot be restored",
    edits: [
      own(
        "feed-rows.ts",
        "and not v.deleted order by v.sort_key`",
        "and not v.deleted and v.listed order by v.sort_key`",
      ),
    ],
    tests: named("api", "D22:"),
  },
  D23: {
    what: "the service index does not name the packages",
    edits: [own("documents.ts", '["PackageBaseAddress/3.0.0"]', '["PackageBaseAddress/2.0.0"]')],
    tests: named("clients", "."),
  },
  D24: {
    what: "ids are put in small letters as JavaScript does it",
    edits: [own("package-id.ts", "if (/^[\\x20-\\x7e]*$/.test(id)) return", "return")],
    tests: beside("package-id", "D24:"),
  },
  D25: {
    what: "every page is asked for at each look",
    edits: [
      own(
        "catalog.ts",
        "return page?.index_stamp !== commitTimeStamp || page.index_count !== count;",
        "return page !== null;",
      ),
    ],
    tests: named("catalog", "D25:"),
  },
  "D25, tag": {
    what: "the index is asked for without its tag",
    edits: [own("catalog.ts", "if_changed: !replaying(pull.cursor),", "")],
    tests: named("catalog", "D25:"),
  },
  D26: {
    what: "addresses are taken as they are written",
    edits: [
      own(
        "catalog-documents.ts",
        'return part && URL.canParse(part["@id"], url) ? new URL(part["@id"], url).href : null;',
        'return part?.["@id"] ?? null;',
      ),
    ],
    tests: named("service-index", "D26:"),
  },
  D27: {
    what: "a stale page is taken for the newest",
    edits: [own("catalog.ts", "if (stale < STALE_MOST) return", "if (stale < 0) return")],
    tests: named("catalog", "D27:"),
  },
};

export const pitfalls = Object.entries(causes).map(([no, { what, edits, tests }]) => ({
  name: `pitfall ${no}: ${what}`,
  edits,
  tests,
}));
