/** What changed from one analysis to another. */
import type { Report } from "./report.ts";

export interface Changes {
  languages: { language: string; bytes: number; lines: number }[];
  tests: { added: string[]; removed: string[]; cases: number };
  dependencies: {
    added: string[];
    removed: string[];
    changed: { name: string; from: string | null; to: string | null }[];
  };
  licence: { from: string | null; to: string | null } | null;
}

/** More are counted by the lengths of what is listed beside. */
const LISTED_MOST = 200;

export function changesBetween(before: Report, after: Report): Changes {
  const [old_tests, new_tests] = [testsOf(before), testsOf(after)];
  const [old_needs, new_needs] = [needsOf(before), needsOf(after)];
  return {
    languages: languageChanges(before, after),
    tests: {
      added: missing(new_tests, old_tests),
      removed: missing(old_tests, new_tests),
      cases: after.tests.total_cases - before.tests.total_cases,
    },
    dependencies: {
      added: missing(new_needs.keys(), old_needs),
      removed: missing(old_needs.keys(), new_needs),
      changed: [...new_needs]
        .filter(([name, version]) => old_needs.has(name) && old_needs.get(name) !== version)
        .map(([name, version]) => ({ name, from: old_needs.get(name) ?? null, to: version }))
        .slice(0, LISTED_MOST),
    },
    licence: before.licence.spdx === after.licence.spdx ? null : { from: before.licence.spdx, to: after.licence.spdx },
  };
}

function missing(these: Iterable<string>, there: { has(name: string): boolean }): string[] {
  return [...these].filter((name) => !there.has(name)).slice(0, LISTED_MOST);
}

const testsOf = (report: Report): Set<string> =>
  new Set(
    report.tests.files.flatMap(({ file, cases }) =>
      cases.map(({ name, suites }) => [file, ...suites, name].join(" > ")),
    ),
  );

const needsOf = (report: Report): Map<string, string | null> =>
  new Map(
    report.manifests.flatMap(({ file, dependencies }) =>
      dependencies.map(({ name, version }) => [`${file}: ${name}`, version] as const),
    ),
  );

function languageChanges(before: Report, after: Report): Changes["languages"] {
  const old = new Map(before.languages.map((one) => [one.language, one]));
  const fresh = new Map(after.languages.map((one) => [one.language, one]));
  return [...new Set([...fresh.keys(), ...old.keys()])]
    .map((language) => ({
      language,
      bytes: (fresh.get(language)?.bytes ?? 0) - (old.get(language)?.bytes ?? 0),
      lines: (fresh.get(language)?.lines ?? 0) - (old.get(language)?.lines ?? 0),
    }))
    .filter(({ bytes, lines }) => bytes !== 0 || lines !== 0);
}
