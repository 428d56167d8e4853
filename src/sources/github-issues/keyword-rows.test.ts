/** Which words lead to candidates. */
import { expect, it } from "vitest";
import { leading, type Term } from "./keyword-rows.ts";

const term = (lexeme: string, issues: number): Term => ({ lexeme, issues, weight: 1, total: 200_000 });

it.each<[string, Term[], string]>([
  ["any of the rare words", [term("zlib", 40), term("inflat", 300)], "'zlib' | 'inflat'"],
  [
    "besides a rare one, those of the common ones that are few together",
    [term("crash", 20_000), term("273", 6), term("termin", 18_000)],
    "'273' | ('termin' & 'crash')",
  ],
  ["a common word alone, where there is no other", [term("crash", 20_000)], "('crash')"],
  [
    "as many common ones as it takes",
    [term("a", 100_000), term("b", 90_000), term("c", 80_000), term("d", 60_000)],
    "('d' & 'c' & 'b' & 'a')",
  ],
  ["words with a quotation mark in them", [term("it's", 3)], "'it''s'"],
  ["nothing", [], ""],
])("%s", (_, terms, query) => {
  expect(leading(terms)).toBe(query);
});
