/** Checks what an upstream's answer means: how long it asks us to wait, and which statuses are answers at all. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { hasCode } from "../errors.ts";
import { judge, makeAnswer, retryAfter_ms, withoutQuery } from "./answer.ts";

const date = "Sun, 15 Nov 2026 22:55:50 GMT";
const wait = (value: string, own_date: string | null = date) =>
  retryAfter_ms({ "retry-after": value, ...(own_date === null ? {} : { date: own_date }) });

describe("Retry-After", () => {
  it("is seconds", () => {
    expect(wait("0")).toBe(0);
    expect(wait("120")).toBe(120_000);
    expect(wait(" 7 ")).toBe(7_000);
    expect(wait("1.5")).toBe(1_500);
  });

  it("is a date, relative to the answer's own date, whatever our clock says", () => {
    expect(wait("Sun, 15 Nov 2026 22:57:50 GMT")).toBe(120_000);
    expect(wait("Sun, 15 Nov 1987 22:57:50 GMT", "Sun, 15 Nov 1987 22:55:50 GMT")).toBe(120_000);
    expect(wait("2026-11-15T22:56:50Z")).toBe(60_000);
  });

  it("that lies in the past asks for no wait", () => {
    expect(wait("Sun, 15 Nov 2026 22:00:00 GMT")).toBe(0);
  });

  it("is unknown where it is absent, nonsense, or a date without one to compare with", () => {
    expect(retryAfter_ms({})).toBeNull();
    for (const odd of ["", "soon", "-5", "3 minutes", "12 34", "1e9", "NaN", "0x10", "tomorrow 5"])
      expect(wait(odd), odd).toBeNull();
    expect(wait("Sun, 15 Nov 2026 22:57:50 GMT", null)).toBeNull();
    expect(wait("Sun, 15 Nov 2026 22:57:50 GMT", "yesterday")).toBeNull();
  });

  it("is never negative, never endless, for anything an upstream may send", () => {
    const week_ms = 7 * 24 * 3600_000;
    const holds = (value: string) => {
      const wait_ms = wait(value);
      expect(wait_ms === null || (wait_ms >= 0 && wait_ms <= week_ms), `${value} gives ${wait_ms}`).toBe(true);
    };
    fc.assert(fc.property(fc.string(), holds));
    fc.assert(fc.property(fc.bigInt({ min: 0n, max: 10n ** 40n }), (n) => holds(String(n))));
    holds("Sun, 15 Nov 9999 22:57:50 GMT");
  });
});

describe("a status", () => {
  const judged = (status: number, headers: Record<string, string> = {}) => {
    try {
      judge("u", "http://u.example/a?secret=1", status, headers);
      return null;
    } catch (error) {
      return error;
    }
  };

  it("is the source's to judge when it is an answer", () => {
    for (const status of [200, 204, 206, 301, 304, 400, 403, 404, 409, 410, 418, 422])
      expect(judged(status)).toBeNull();
  });

  it("429 asks us to wait, a minute unless it says how long", () => {
    const plain = judged(429);
    expect(hasCode(plain, "UpstreamBusy") && plain.wait_ms).toBe(60_000);
    const said = judged(429, { "retry-after": "7" });
    expect(hasCode(said, "UpstreamBusy") && said.wait_ms).toBe(7_000);
  });

  it("429 with a wait of nothing is still a wait, or we would ask again at once, for ever", () => {
    const said = judged(429, { "retry-after": "0" });
    expect(hasCode(said, "UpstreamBusy") && said.wait_ms).toBeGreaterThanOrEqual(1_000);
  });

  it("403 and 503 ask us to wait only where they say how long", () => {
    for (const status of [403, 503]) expect(hasCode(judged(status, { "retry-after": "7" }), "UpstreamBusy")).toBe(true);
    expect(hasCode(judged(503), "UpstreamDown")).toBe(true);
  });

  it("of a server in trouble means that it is down, and 401 that it refuses us", () => {
    for (const status of [500, 502, 504, 599]) expect(hasCode(judged(status), "UpstreamDown")).toBe(true);
    expect(hasCode(judged(401), "UpstreamForbids")).toBe(true);
  });

  it("is told without the query of the address, which can hold secrets", () => {
    for (const status of [429, 500, 401]) expect(JSON.stringify(judged(status))).not.toContain("secret");
    expect(withoutQuery("http://u.example/a?b=c#d")).toBe("http://u.example/a");
    expect(withoutQuery("http://u.example/a#d?e")).toBe("http://u.example/a");
    expect(withoutQuery("http://u.example/a")).toBe("http://u.example/a");
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
