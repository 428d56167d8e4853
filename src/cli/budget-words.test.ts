/** Checks what `tidemark status` says of budgets and breakers. */
import { PassThrough } from "node:stream";
import { expect, it } from "vitest";
import type { BudgetStatus } from "../engine/spent.ts";
import { budgetWords } from "./budget-words.ts";
import { outputTo } from "./output.ts";

const nowhere = new PassThrough();
const plain = outputTo({ out: nowhere, err: nowhere }, true);
const now = "2030-01-01T12:00:00.000000Z";
const share = { share: "search", reserved: 0.2, used: 0, left: 4, waiting: false, wait_ms: 0 };
const pace: BudgetStatus = {
  budget: "u",
  upstream: "u",
  shape: "pace",
  room: 20,
  per_second: 5,
  period_ms: null,
  used: null,
  left: 7.25,
  reserved: 4,
  lent: 3.25,
  total: 100,
  window_until: null,
  closed_until: null,
  closed_reason: null,
  shares: [share, { ...share, share: "init", waiting: true, wait_ms: 900 }],
};

it("shows what is left, kept and lent, and who waits", () => {
  const text = budgetWords(plain, { now, budgets: [pace], breakers: [] }).join("\n");
  expect(text).toMatch(/u +5\/s +– +7\.3 +4 +3\.3 +init/);
});

it("shows until when a budget is closed, and why", () => {
  const closed = { ...pace, closed_until: "2030-01-01T12:01:00.000000Z", closed_reason: "HTTP 429" };
  const text = budgetWords(plain, { now, budgets: [closed], breakers: [] }).join("\n");
  expect(text).toContain("for 1m: HTTP 429");
});

it("shows who is believed down, and nothing where there is nothing to show", () => {
  const breaker = {
    upstream: "u",
    breaker: "open",
    failing: 3,
    strikes: 1,
    closed_until: now,
    closed_reason: "HTTP 500",
  } as const;
  expect(budgetWords(plain, { now, budgets: [], breakers: [breaker] })).toEqual(["u is believed down: HTTP 500"]);
  expect(budgetWords(plain, { now, budgets: [], breakers: [{ ...breaker, breaker: "closed" }] })).toEqual([]);
});
