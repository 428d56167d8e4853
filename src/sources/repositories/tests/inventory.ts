/** Finds the tests that are written in a file, by parsing it; nothing of it is ever run. */
import type { TestFile } from "../report.ts";
import { goTests } from "./go.ts";
import { javaTests } from "./java.ts";
import { javascriptTests } from "./javascript.ts";
import { kotlinTests } from "./kotlin.ts";
import { pythonTests } from "./python.ts";

type Finder = (path: string, text: string) => TestFile | null;

const finders: Record<string, Finder> = {
  JavaScript: javascriptTests,
  TypeScript: javascriptTests,
  Python: pythonTests,
  Go: goTests,
  Java: javaTests,
  Kotlin: kotlinTests,
};

/** Null where there are none. */
export function testsIn(path: string, language: string, text: string): TestFile | null {
  try {
    return finders[language]?.(path, text) ?? null;
  } catch (thrown) {
    // Nested deeper than any program that a person wrote.
    if (thrown instanceof RangeError) return null;
    throw thrown;
  }
}
