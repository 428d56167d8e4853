/** What people type into a search, and what is said to them when it cannot be understood. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readSearch, type SearchRequest } from "./search-request.ts";

/** Only what was given. */
const given = (q: string): Partial<SearchRequest> =>
  Object.fromEntries(
    Object.entries(readSearch(q)).filter(([, v]) => v !== "" && v !== "all" && v !== null && String(v).length > 0),
  );

describe("a query (B22)", () => {
  it.each<[string, Partial<SearchRequest>]>([
    ["crash on start", { text: "crash on start" }],
    ['title:"black screen" crash', { title: ["black screen"], text: "crash" }],
    ["body:trace author:@Octocat", { body: ["trace"], author: ["Octocat"] }],
    ['label:bug label:"good first issue"', { label: ["bug", "good first issue"] }],
    ["-label:wontfix -author:bot x", { not_label: ["wontfix"], not_author: ["bot"], text: "x" }],
    ["state:closed", { state: "closed" }],
    ["is:open is:issue y", { state: "open", text: "y" }],
    ["-is:open", { state: "closed" }],
    ["repo:Microsoft/VSCode", { repo: [{ host: "github.com", name: "microsoft/vscode" }] }],
    ["repo:ghe.corp.example/a/b", { repo: [{ host: "ghe.corp.example", name: "a/b" }] }],
    ["org:microsoft -org:acme", { org: ["microsoft"], not_org: ["acme"] }],
    ['"exact words" -"not these"', { phrases: ["exact words"], not_phrases: ["not these"] }],
    ['subtitle:"x" y', { text: "subtitle: y", phrases: ["x"] }],
    ["TypeError: x is not a function", { text: "TypeError: x is not a function" }],
    ["https://example.com/a?b=c", { text: "https://example.com/a?b=c" }],
    ["#1234", { text: "#1234", number: 1234 }],
    ["acme/x#12", { text: "acme/x#12", number: 12, repo: [{ host: "github.com", name: "acme/x" }] }],
    [
      "https://github.com/Acme/x/issues/12#issuecomment-3",
      {
        text: "https://github.com/Acme/x/issues/12#issuecomment-3",
        number: 12,
        repo: [{ host: "github.com", name: "acme/x" }],
      },
    ],
    ["TITLE:x", { title: ["x"] }],
    ["a-b -c --no-verify", { text: "a-b -c --no-verify" }],
    ["", {}],
  ])("%s", (q, request) => {
    expect(given(q)).toEqual(request);
  });

  it.each([
    ['title:"black screen', /quotation mark in title:"black screen is not closed/],
    ['crash "on start', /quotation mark in "on start is not closed/],
    ["label:", /^label: needs a value, such as label:"good first issue"\.$/],
    ['author:""', /^author: needs a value/],
    ["state:half", /^state: is open or closed or all, not "half"\.$/],
    ["is:all", /^is: is open or closed, not "all"\.$/],
    ["state:open is:closed", /^state: is given twice/],
    ["repo:vscode", /"vscode" is no repository; write owner and name, such as repo:microsoft\/vscode\./],
    ["x".repeat(10_000), /^q has 10000 letters; 4000 at most/],
    ["label:a ".repeat(30), /20 times at most/],
  ])("%s is answered with a sentence", (q, sentence) => {
    expect(() => readSearch(q)).toThrow(sentence);
  });

  it("is read or refused with a sentence, whatever it is", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 200 }), (q) => {
        try {
          expect(readSearch(q).text.includes("\u0000")).toBe(false);
        } catch (error) {
          expect((error as { code: string }).code).toBe("InputInvalid");
        }
      }),
    );
  });
});
