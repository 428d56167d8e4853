/** What a model is given to read of an issue. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cleaned, passagesOf, tokensOf } from "./text.ts";

const limits = { tokens_most: 50, parts_most: 3 };
const say = (body: string, association: string | null = null) => ({ body, association, created_at: "2030" });

describe("the text of an issue", () => {
  it("is its title, its body and what was said best, without what says nothing", () => {
    const [one, ...more] = passagesOf(
      {
        title: "Crash",
        body: "<!-- version? -->\nIt **crashes**.\n\n---\n![](shot.png)<br>",
        comments: [say("me too"), say("It is the cache, clear it.", "MEMBER")],
      },
      { tokens_most: 200, parts_most: 3 },
    );
    expect(one?.text).toBe("Crash\nIt **crashes**.\nIt is the cache, clear it.");
    expect(more).toEqual([]);
  });

  it("prefers what maintainers say, then what is longer, three at most, told in order", () => {
    const long = (n: number) => `remark number ${n} ${"x".repeat(n)}`;
    const comments = [say(long(30)), say(long(5)), say(long(40)), say(long(8), "OWNER"), say(long(20))];
    const [one] = passagesOf({ title: "t", body: "", comments }, { tokens_most: 500, parts_most: 1 });
    expect(one?.text).toBe(["t", long(30), long(40), long(8)].join("\n"));
  });

  it("is cut into passages that fit, each with the title before it, and no more than are compared", () => {
    const body = Array.from({ length: 300 }, (_, n) => `word${n}`).join(" ");
    const parts = passagesOf({ title: "A title", body, comments: [] }, limits);
    expect(parts.map(({ part }) => part)).toEqual([0, 1, 2]);
    for (const { text, tokens } of parts) {
      expect(text).toMatch(/^A title\nword/);
      expect(tokens).toBeLessThanOrEqual(50);
    }
    expect(parts[1]!.text.split(/\s+/)[2]).toBe(`word${parts[0]!.text.split(/\s+/).length - 2}`);
  });

  it("is none where nothing is said", () => {
    expect(passagesOf({ title: " ", body: "<!-- nothing -->", comments: [] }, limits)).toEqual([]);
  });

  it("is known by what it says: the same text has the same hash, another has another", () => {
    const hash = (body: string) => passagesOf({ title: "t", body, comments: [] }, limits)[0]!.hash;
    expect(hash("a  b")).toBe(hash("a b<!-- x -->"));
    expect(hash("a b")).not.toBe(hash("a c"));
  });

  it("fits, whatever people write", () => {
    const text = fc.string({ unit: "binary", maxLength: 2_000 });
    fc.assert(
      fc.property(text, text, (title, body) => {
        for (const { text: part, tokens } of passagesOf({ title, body, comments: [say(body)] }, limits)) {
          expect(tokens).toBeLessThanOrEqual(limits.tokens_most);
          expect(part.isWellFormed()).toBe(true);
          expect(part).not.toContain("\u0000");
        }
      }),
    );
  });

  it("is read in no time, however long a line of rulers or blanks is", () => {
    const begun = performance.now();
    cleaned(`${"- ".repeat(30_000)}x ${" ".repeat(60_000)} <${"a".repeat(60_000)}`);
    expect(performance.now() - begun).toBeLessThan(5_000);
  });
});

it("a token is about four letters of English, and one of other scripts", () => {
  expect(tokensOf("hello world")).toBe(4);
  expect(tokensOf("漢字かな")).toBe(4);
  expect(tokensOf("")).toBe(0);
});
