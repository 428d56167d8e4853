/** What the annotations of JUnit and TestNG say of a method or a class, in Java as in Kotlin. */

export interface Annotation {
  name: string;
  /** What stands between its brackets, as written. */
  given: string;
}

export interface Marks {
  test: boolean;
  skipped: boolean;
  many: boolean;
  display: string | null;
}

const tests = new Set(["Test", "ParameterizedTest", "RepeatedTest", "TestFactory", "TestTemplate", "Theory"]);
const many = new Set(["ParameterizedTest", "RepeatedTest", "TestFactory", "TestTemplate", "Theory"]);

export function marksOf(annotations: readonly Annotation[]): Marks {
  const has = (names: Set<string>) => annotations.some(({ name }) => names.has(name));
  const test = annotations.find(({ name }) => name === "Test");
  const display = annotations.find(({ name }) => name === "DisplayName")?.given;
  return {
    test: has(tests),
    skipped: has(new Set(["Disabled", "Ignore"])) || /\benabled\s*=\s*false\b/.test(test?.given ?? ""),
    many: has(many) || /\b(dataProvider|invocationCount)\s*=/.test(test?.given ?? ""),
    display: display === undefined ? null : (/"((?:[^"\\]|\\.)*)"/.exec(display)?.[1] ?? null),
  };
}

/** The one that a file uses, by what it imports. */
export function frameworkOf(text: string): string {
  const imports = [...text.matchAll(/^\s*import\s+(?:static\s+)?([\w.*]+)/gm)].map(([, name]) => name!);
  const of = (prefix: string) => imports.some((name) => name.startsWith(prefix));
  if (of("org.testng")) return "testng";
  if (of("org.junit.jupiter")) return "junit5";
  if (of("kotlin.test")) return "kotlin.test";
  if (imports.some((name) => /^org\.junit\.(Test|\*|Ignore|runner|Before|After|Assert|Rule|experimental)/.test(name)))
    return "junit4";
  if (of("junit.framework")) return "junit3";
  return "junit5";
}
