/** Tests of the scanner that finds functions, since the wall of 70 lines stands on it. */
import { expect, it } from "vitest";
import { functionsOf } from "./functions.ts";
import { tokensOf } from "./tokens.ts";

const lengths = (text: string): number[] => functionsOf({ path: "x.ts", text }).map(({ lines }) => lines);

it.each([
  ["a declaration", "function f() {\n\n}"],
  ["a declaration with a type", "function f<T>(a: T): Promise<Map<string, T[]>> {\n\n}"],
  ["a result that is an object", "function f(): { a: string; b: number } {\n\n}"],
  ["a predicate", "function f(a: unknown): a is string {\n\n}"],
  ["an arrow", "const f = (a: number) => {\n\n};"],
  ["an arrow with a type", "const f = async (a: number): Promise<void> => {\n\n};"],
  ["an arrow without parentheses", "const f = a => {\n\n};"],
  ["a method", "class A {\n#m(): void {\n\n}\n}"],
  ["a getter", "class A {\nget m(): string {\n\n}\n}"],
  ["a method of an object", "const o = {\nm(a) {\n\n},\n};"],
])("finds %s", (_, text) => {
  expect(lengths(text)).toEqual([3]);
});

it.each([
  ["a condition", "if (a) {\n\n}"],
  ["a loop", "for (const a of b) {\n\n}"],
  ["a catch", "try {\n\n} catch (thrown) {\n\n}"],
  ["a class", "class A extends B<C> {\n\n}"],
  ["an object", "const a: Record<string, B> = {\n\n};"],
  ["an interface", "interface A {\n\n}"],
  ["a shelf of tests", 'describe("x", () => {\n\n});'],
  ["a shelf of many tests", 'describe.each([1, 2])("x", (a) => {\n\n});'],
])("does not take %s for a function", (_, text) => {
  expect(lengths(text)).toEqual([]);
});

it("does not take a block after a function for its body", () => {
  expect(lengths("function f(): Db {\n}\ntry {\n\n\n\n} finally {\n}\n")).toEqual([2]);
});

it("is not led astray by braces in strings, templates, comments and regular expressions", () => {
  const lines = [
    "function f() {",
    ' const a = "{"; /* { */ // {',
    " const b = /[{/]{/.test(`{ HOLE{g({ c: `}` })} {`);",
  ];
  expect(lengths([...lines, " return 4 / 2;", "}", ""].join("\n").replace("HOLE", "$"))).toEqual([5]);
});

it("counts lines through templates and comments", () => {
  const tokens = tokensOf({ path: "x.ts", text: "/* 1\n2 */ `a\nHOLE{b}\n` c".replace("HOLE", "$") });
  expect(tokens.find(({ text }) => text === "b")?.line).toBe(3);
  expect(tokens.at(-1)).toEqual({ kind: "word", text: "c", line: 4 });
});
