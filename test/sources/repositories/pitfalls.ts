/** The causes of the pitfalls of repositories, to be put back one at a time: each has a test that goes red. `npm run mutants "pitfall E"` does it. */

interface Edit {
  file: string;
  find: string;
  replace: string;
}

const own = (file: string, find: string, replace: string): Edit => ({
  file: `src/sources/repositories/${file}`,
  find,
  replace,
});

/** The tests of a file whose names match. */
const named = (file: string, name: string): string[] => [`test/sources/repositories/${file}.test.ts`, "-t", name];

const causes: Record<string, { what: string; edits: Edit[]; tests: string[] }> = {
  E1: {
    what: "days of idleness are not whole",
    edits: [own("repository.ts", "(n + 1) * DAY_MS - 1", "n * DAY_MS")],
    tests: named("looks", "E1:"),
  },
  E2: {
    what: "whoever asks is taken for a person",
    edits: [
      own(
        "api.ts",
        'if (isPerson(visit)) context.viewed("repositories", ref);',
        'context.viewed("repositories", ref);',
      ),
    ],
    tests: named("looks", "E2:"),
  },
  E3: {
    what: "HEAD is not asked for first",
    edits: [own("repository.ts", "unchanged: isUnchanged(pull.cursor, saw, parts)", "unchanged: false")],
    tests: named("flow", "E3:"),
  },
  E5: {
    what: "the branch is not part of what is unchanged",
    edits: [
      own(
        "repository.ts",
        "if (cursor.head?.oid !== oid || cursor.head.ref !== ref) return false;",
        "if (cursor.head?.oid !== oid) return false;",
      ),
    ],
    tests: named("troubles", "E5:"),
  },
  E6: {
    what: "what is too large fails instead of being refused",
    edits: [own("repository.ts", 'thrown.details.why !== "too large"', "true")],
    tests: named("troubles", "E6:"),
  },
  E7: {
    what: "what went private is still shown",
    edits: [
      own(
        "api.ts",
        'if (row.state !== "hidden" && row.gone_at === null) return null;',
        "if (row.analysis) return null;",
      ),
    ],
    tests: named("troubles", "E7:"),
  },
  E8: {
    what: "a new name begins without its history",
    edits: [own("repository.ts", "await inherit(tx, resource_id, key);", "")],
    tests: named("troubles", "E8:"),
  },
  "E8, another": {
    what: "another repository inherits what was found under its name",
    edits: [own("repository.ts", "if (other)", "if (false)")],
    tests: named("troubles", "E8:"),
  },
  E10: {
    what: "a look at what is not there yet has it fetched for itself",
    edits: [
      own("repository.ts", "const saw = seen.get(pull) ?? (await calls.see());", "const saw = await calls.see();"),
    ],
    tests: named("looks", "E10:"),
  },
  E12: {
    what: "folders of the dead are left",
    edits: [own("git.ts", "if (Number.isNaN(pid) || isAlive(pid)) continue;", "continue;")],
    tests: named("troubles", "E12:"),
  },
  E14: {
    what: "a stale view does not have it checked",
    edits: [own("api.ts", "if (stale && commit === null && !isBot(visit))", "if (false)")],
    tests: named("looks", "E14:"),
  },
  E17: {
    what: "a manifest that cannot be read fails the analysis",
    edits: [
      own(
        "manifests.ts",
        "    return { name: null, dependencies: [] };\n  }\n}\n\ntype Scope",
        '    throw new Error("unreadable");\n  }\n}\n\ntype Scope',
      ),
    ],
    tests: named("troubles", "E17:"),
  },
  E18: {
    what: "everything is kept for ever",
    edits: [own("repository.ts", "await forget(tx, resource_id, keep);", "")],
    tests: named("troubles", "E18:"),
  },
  E19: {
    what: "an analysis of an earlier commit says nothing of HEAD",
    edits: [own("api.ts", "row.head_oid !== null && row.head_oid !== analysis.commit_oid", "false")],
    tests: named("troubles", "E19:"),
  },
};

export const pitfalls = Object.entries(causes).map(([no, { what, edits, tests }]) => ({
  name: `pitfall ${no}: ${what}`,
  edits,
  tests,
}));
