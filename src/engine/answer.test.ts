/** Checks what an upstream's answer means: how long it asks us to wait, and which statuses are answers at all. */
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { hasCode } from "../errors.ts";
import { judge, makeAnswer, saidOf, withoutQuery } from "./answer.ts";

const date = "Sun, 15 Nov 2026 22:55:50 GMT";

describe("a status", () => {
  const judged = (status: number, headers: Record<string, string> = {}, body = "", accepted: number[] = []) =>
    judge("u", { status, headers, bytes: new TextEncoder().encode(body) }, accepted);
  const limited = { "x-ratelimit-remaining": "0", "x-ratelimit-reset": "1794783410", date };

  it("is the source's to judge when it is an answer", () => {
    for (const status of [200, 204, 206, 301, 304, 400, 404, 409, 410, 418, 422])
      expect(judged(status)).toEqual({ verdict: "answer" });
  });

  it("429 asks us to wait, for a time of our own unless it says how long", () => {
    expect(judged(429)).toMatchObject({ verdict: "busy", wait_ms: null, about: null });
    expect(judged(429, { "retry-after": "7" })).toMatchObject({ verdict: "busy", wait_ms: 7_000 });
    expect(judged(429, {}, "", [429])).toMatchObject({ verdict: "busy" });
  });

  it("429 with a wait of nothing is still a wait, or we would ask again at once, for ever", () => {
    expect(judged(429, { "retry-after": "0" })).toMatchObject({ wait_ms: 1_000 });
  });

  it("503 asks us to wait only where it says how long", () => {
    expect(judged(503, { "retry-after": "7" })).toMatchObject({ verdict: "busy", wait_ms: 7_000 });
    expect(judged(503)).toMatchObject({ verdict: "down" });
  });

  it("403 is a refusal of the resource, unless there is a sign of a limit", () => {
    expect(judged(403)).toMatchObject({ verdict: "forbidden" });
    expect(judged(403, {}, "Resource not accessible by integration")).toMatchObject({ verdict: "forbidden" });
    expect(judged(403, { "x-ratelimit-remaining": "17" })).toMatchObject({ verdict: "forbidden" });
    expect(judged(403, { "retry-after": "7" })).toMatchObject({ verdict: "busy", wait_ms: 7_000 });
    expect(judged(403, limited)).toMatchObject({ verdict: "busy", wait_ms: 60_000 });
    const secondary = '{"message": "You have exceeded a secondary rate limit."}';
    expect(judged(403, {}, secondary)).toMatchObject({ verdict: "busy", wait_ms: null });
  });

  it("says which budget is spent, but not where it asks us to wait for more than that", () => {
    const graphql = { ...limited, "x-ratelimit-resource": "graphql" };
    expect(judged(403, graphql)).toMatchObject({ about: "graphql", wait_ms: 60_000 });
    expect(judged(429, graphql)).toMatchObject({ about: "graphql" });
    expect(judged(403, { ...graphql, "retry-after": "30" })).toMatchObject({ about: null, wait_ms: 30_000 });
  });

  it("200 with RATE_LIMITED among its errors is no answer, but text that only looks alike is", () => {
    const graphql = { ...limited, "x-ratelimit-resource": "graphql" };
    const errors = '{"data": null, "errors": [{"type": "RATE_LIMITED", "message": "API rate limit exceeded"}]}';
    expect(judged(200, graphql, errors)).toMatchObject({ verdict: "busy", about: "graphql", wait_ms: 60_000 });
    expect(judged(200, {}, errors)).toMatchObject({ verdict: "busy", wait_ms: null });
    for (const body of [
      '{"data": {"title": "RATE_LIMITED"}}',
      '{"errors": [{"type": "NOT_FOUND", "message": "RATE_LIMITED"}]}',
      "RATE_LIMITED",
    ])
      expect(judged(200, graphql, body), body).toEqual({ verdict: "answer" });
  });

  it("of a server in trouble means that it is down, and 401 that it refuses us", () => {
    for (const status of [500, 502, 504, 599]) expect(judged(status)).toMatchObject({ verdict: "down" });
    expect(judged(401)).toMatchObject({ verdict: "refused" });
  });

  it("that the caller takes as an answer is one", () => {
    for (const status of [401, 403, 500, 503]) expect(judged(status, {}, "", [status])).toEqual({ verdict: "answer" });
  });

  it("is told without the query of the address, which can hold secrets", () => {
    expect(withoutQuery("http://u.example/a?b=c#d")).toBe("http://u.example/a");
    expect(withoutQuery("http://u.example/a#d?e")).toBe("http://u.example/a");
    expect(withoutQuery("http://u.example/a")).toBe("http://u.example/a");
  });
});

describe("what an answer says of budgets", () => {
  const github = { "x-ratelimit-remaining": "10", "x-ratelimit-limit": "5000", "x-ratelimit-resource": "core" };

  it("is about the budget that it names, where the call took from it", () => {
    expect(saidOf(github, ["core"])).toMatchObject([{ budget: "core", limit: 5_000, remaining: 10 }]);
    expect(saidOf(github, ["core", "search"])).toMatchObject([{ budget: "core" }]);
    expect(saidOf(github, ["search"])).toEqual([]);
  });

  it("is about the only one there is, where either has no name", () => {
    expect(saidOf({ "x-ratelimit-remaining": "10" }, ["core"])).toMatchObject([{ budget: "core" }]);
    expect(saidOf({ "x-ratelimit-remaining": "10" }, ["core", "search"])).toEqual([]);
    expect(saidOf(github, [""])).toMatchObject([{ budget: "", remaining: 10 }]);
  });

  it("can be about several at once", () => {
    const openai = { "x-ratelimit-remaining-requests": "3", "x-ratelimit-remaining-tokens": "400" };
    expect(saidOf(openai, ["requests", "tokens"]).map((s) => [s.budget, s.remaining])).toEqual([
      ["requests", 3],
      ["tokens", 400],
    ]);
  });
});

describe("a body", () => {
  const answer = (text: string) => makeAnswer("u", 200, {}, new TextEncoder().encode(text));
  const shape = z.object({ a: z.number() });
  const codeOf = (work: () => unknown) => {
    try {
      work();
      return null;
    } catch (error) {
      return hasCode(error, "UpstreamChanged");
    }
  };

  it("is what the schema describes", () => {
    expect(answer('{"a":1}').json(shape)).toEqual({ a: 1 });
    expect(answer("grüezi").text()).toBe("grüezi");
  });

  it("that is cut off, no JSON, or of another shape means that the upstream changed", () => {
    for (const text of ["", '{"a":', "<html>", '{"a":"1"}', "null", "[]"])
      expect(
        codeOf(() => answer(text).json(shape)),
        text,
      ).toBe(true);
  });
});
