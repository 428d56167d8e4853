/** The causes of the pitfalls A1 to A22, to be put back one at a time: each has a test that goes red. `npm run mutants pitfall` does it. */

interface Edit {
  file: string;
  find: string;
  replace: string;
}

const own = (file: string, find: string, replace: string): Edit => ({
  file: `src/sources/go-modules/${file}`,
  find,
  replace,
});
const feed = (find: string, replace: string): Edit => ({ file: "src/mirror/feed.ts", find, replace });

/** The tests of a file whose names match. */
const named = (file: string, name: string): string[] => [`test/sources/go-modules/${file}.test.ts`, "-t", name];

const stamp = "base.at + (fresh.tidemark_order - 1) * interval '1 microsecond'";
/** Without these, what is published again or at once fails instead of doing harm. */
const manyStamps = own(
  "migrations/0001_modules.sql",
  "create unique index version_published",
  "create index version_published",
);
const manyRows = own("migrations/0001_modules.sql", "moved_oid text,\n  primary key (path, version)", "moved_oid text");
const publishedAgain = feed("where not exists (select 1 from", "where true or not exists (select 1 from");

const causes: Record<string, { what: string; edits: Edit[]; tests: string[] }> = {
  A1: {
    what: "the newest come first",
    edits: [own("feed-rows.ts", "order by published_at limit", "order by published_at desc limit")],
    tests: named("index-pollers", "\\(A1\\)"),
  },
  A2: {
    what: "a version's stamp is older than its publishing",
    edits: [
      feed(
        stamp,
        "timestamptz '2020-01-01' + split_part(fresh.version, '.', 2)::int * interval '1 day' + case when fresh.version like 'v1%' then interval '1 year' else interval '0' end",
      ),
    ],
    tests: named("index-flow", "\\(A2\\)"),
  },
  A3: {
    what: "versions of one commit have one stamp",
    edits: [feed(stamp, "base.at"), manyStamps],
    tests: named("index-pollers", "\\(A3\\)"),
  },
  A4: {
    what: "stamps are taken without waiting for others",
    edits: [
      feed(" for update`", "`"),
      feed("greatest(tidemark.now(), last_at + interval '1 microsecond') as at", "clock_timestamp() as at"),
      feed(" and exists (select 1 from stamped)", " and false"),
    ],
    tests: named("index-pollers", "\\(A4\\)"),
  },
  A5: {
    what: "what is published again is a second entry",
    edits: [manyRows, publishedAgain],
    tests: named("index-pollers", "\\(A5\\)"),
  },
  A6: {
    what: "stamps are told in seconds",
    edits: [own("migrations/0004_lines.sql", "to_json(at at", "to_json(date_trunc('second', at, 'UTC') at")],
    tests: named("index-pollers", "\\(A6\\)"),
  },
  A7: {
    what: "a plus that nobody escaped is a space",
    edits: [own("index-request.ts", 'text.replace(/ (?=[0-9]{2}:[0-9]{2}$)/, "+")', "text")],
    tests: named("index-protocol", "\\(A7\\)"),
  },
  A8: {
    what: "every tag that looks like a version is one",
    edits: [own("semver.ts", "v !== null && canonical(v) === text && !pseudo.test(text) ? v : null", "v")],
    tests: named("index-flow", "A8"),
  },
  A9: {
    what: "tags of directories are left out",
    edits: [own("versions.ts", "if (!v || slash === 0 ||", "if (!v || slash >= 0 ||")],
    tests: named("index-flow", "A9"),
  },
  A10: {
    what: "any major version goes with any path",
    edits: [own("module-path.ts", "return v.major === wanted || early;", "return wanted !== '' || early;")],
    tests: named("index-flow", "A10"),
  },
  A11: {
    what: "whoever declares a path publishes it",
    edits: [
      own("publishing.ts", "found.versions.filter((v) => holders.get(v.path) === resource_id)", "found.versions"),
    ],
    tests: named("repositories", "A11:"),
  },
  A12: {
    what: "annotated tags are taken for commits",
    edits: [own("queries.ts", "target.target ? commitOf(target.target) : null", "target.oid")],
    tests: named("tags", "A12:"),
  },
  A13: {
    what: "moved tags are not noticed",
    edits: [
      own("publishing.ts", "oid === null || oid === v.commit_oid || oid === v.moved_oid ?", "oid !== undefined ?"),
    ],
    tests: named("tags", "A13:"),
  },
  A14: {
    what: "what is deleted leaves the feed",
    edits: [
      own(
        "version-rows.ts",
        "update go_modules.version v set deleted_at = tidemark.now()\n      from unnest",
        "delete from go_modules.version v using unnest",
      ),
    ],
    tests: named("tags", "A14:"),
  },
  A15: {
    what: "a repository's path follows its name",
    edits: [own("listing.ts", "root: row?.root ?? keyOf(host", "root: keyOf(host")],
    tests: named("repositories", "A15:"),
  },
  A16: {
    what: "a repository without tags is never done",
    edits: [own("publishing.ts", "tags: work.cursor.total,", "tags: work.cursor.total || -1,")],
    tests: named("repositories", "A16:"),
  },
  A17: {
    what: "a listing ends after some pages",
    edits: [own("owner.ts", "if (hasNextPage && endCursor !== null) {", "if (hasNextPage && cursor.after === null) {")],
    tests: named("repositories", "A17:"),
  },
  A18: {
    what: "half a listing is taken for a whole one",
    edits: [
      own("owner.ts", "const whole = cursor.whole && faults.length === 0 && ", "const whole = cursor.whole || "),
      // Even so, what was not met would be asked for by its id before it is let go of.
      own("owner.ts", "whole ? await keptOf(pull, parts, seen) : []", "await Promise.resolve([] as Child[])"),
    ],
    tests: named("limits", "A18:"),
  },
  A19: {
    what: "a listing that had to wait begins anew",
    edits: [
      own(
        "owner.ts",
        "for (;;) {\n        const { cursor } = pull;",
        "for (let first = true; ; first = false) {\n        const cursor = first ? { ...pull.cursor, after: null } : pull.cursor;",
      ),
    ],
    tests: named("limits", "A19:"),
  },
  A20: {
    what: "go.mod files that are known are read again",
    edits: [
      own(
        "repository.ts",
        "of await readGomods(read, resource.resource_id))",
        "of (await readGomods(read, resource.resource_id)).slice(0, 0))",
      ),
    ],
    tests: named("crash", "A20:"),
  },
  A21: {
    what: "paths are told in small letters",
    edits: [own("migrations/0004_lines.sql", "to_json(path)", "to_json(lower(path))")],
    tests: named("index-flow", "A21"),
  },
  "A21, escaped": {
    what: "capitals are not escaped for proxies",
    edits: [own("module-path.ts", "path.replace(/[A-Z]/g,", "path.replace(/[A-Z]{99}/g,")],
    tests: named("index-flow", "A21"),
  },
  A22: {
    what: "a pull that goes on publishes again what the dead one had published",
    edits: [
      manyRows,
      publishedAgain,
      own("publishing.ts", "mine.filter((v) => !known.has(nameOf(v))).map", "mine.map"),
    ],
    tests: named("crash", "A22:"),
  },
  "A22, lost": {
    what: "only what this very pull has read is published",
    edits: [
      own(
        "repository.ts",
        "facts.know(commit_oid, dir, module_path);\n    facts.work_out();",
        "facts.know(commit_oid, dir, module_path);\n    facts.work_out();\n    facts.old = new Set(facts.versions.map((v) => v.tag));",
      ),
      own(
        "repository.ts",
        "needs: { commit_oid: string; dir: string }[] = [];",
        "needs: { commit_oid: string; dir: string }[] = [];\n  old = new Set<string>();",
      ),
      own(
        "repository.ts",
        "    this.versions = versions;",
        "    this.versions = versions.filter((v) => !this.old.has(v.tag));",
      ),
    ],
    tests: named("crash", "A22:"),
  },
};

export const pitfalls = Object.entries(causes).map(([no, { what, edits, tests }]) => ({
  name: `pitfall ${no}: ${what}`,
  edits,
  tests,
}));
