/** Deliberate breakages of budgets, breakers and tokens, each of which some test must notice. */
import type { Mutant } from "./mutant.ts";

export const manners: Mutant[] = [
  {
    name: "a budget is taken without its lock",
    edits: [
      {
        file: "migrations/0007_kept_in_any_window.sql",
        find: "order by t.budget for update loop\n    known := known + 1;",
        replace: "order by t.budget loop\n    known := known + 1;",
      },
    ],
    tests: ["test/sql/budget-closing.test.ts"],
  },
  {
    name: "calls of the dead count for ever",
    edits: [
      {
        file: "migrations/0008_flights_in_bulk.sql",
        find: "where f.budget = of_budget and f.until > moment;",
        replace: "where f.budget = of_budget;",
      },
    ],
    tests: ["test/sql/budget-closing.test.ts"],
  },
  {
    name: "grants live longer than they are accounted for",
    edits: [
      {
        file: "src/engine/grant-line.ts",
        find: "const until_ms = asked_ms + life_ms;",
        replace: "const until_ms = asked_ms + 20 * life_ms;",
      },
    ],
    tests: ["test/sql/budget-calls.test.ts"],
  },
  {
    name: "what is out is not counted",
    edits: [
      {
        file: "migrations/0007_kept_in_any_window.sql",
        find: "begin\n  while k > 0 and b.out_until[k] > ends loop",
        replace: "begin\n  return b;\n  while k > 0 and b.out_until[k] > ends loop",
      },
    ],
    tests: ["test/sql/budget.test.ts"],
  },
  {
    name: "a window begins anew although nobody said so",
    edits: [
      {
        file: "migrations/0007_kept_in_any_window.sql",
        find: "      if b.told then\n        b.level",
        replace: "      if true then\n        b.level",
      },
    ],
    tests: ["test/sql/budget.test.ts"],
  },
  {
    name: "the age of a grant is not looked at before a request is written",
    edits: [
      {
        file: "src/engine/upstream.ts",
        find: "admit: (sending) => this.#admission.atTheDoor(upstream, request, admitted, sending),",
        replace: "admit: async () => void upstream,",
      },
    ],
    tests: ["test/sql/budget-slow.test.ts"],
  },
  {
    name: "one worker without a good token opens the breaker for all",
    edits: [
      {
        file: "src/engine/upstream.ts",
        find: "(await this.#credentials.othersWork(credentials.host))",
        replace: "!(await this.#credentials.othersWork(credentials.host)) && 1 > 2",
      },
    ],
    tests: ["test/sql/budget-credentials.test.ts"],
  },
  {
    name: "the reserve of a window is lent out",
    edits: [{ file: "migrations/0002_manners.sql", find: "    if i <> mine then\n", replace: "    if false then\n" }],
    tests: ["test/sql/budget.test.ts"],
  },
  {
    name: "a share's bucket is lent before it is full",
    edits: [
      {
        file: "migrations/0002_manners.sql",
        find: "    when 'pace' then b.level[mine] + b.lent\n",
        replace: "    when 'pace' then (select sum(l) from unnest(b.level) as l) + b.lent\n",
      },
    ],
    tests: ["test/sql/budget.test.ts"],
  },
  {
    name: "a closed upstream is called all the same",
    edits: [
      {
        file: "migrations/0007_kept_in_any_window.sql",
        find: "if not probe and up.closed_until > moment and",
        replace: "if not probe and up.closed_until > moment + interval '1 year' and",
      },
    ],
    tests: ["test/sql/budget-calls.test.ts"],
  },
  {
    name: "the breaker charges resources that are not at fault",
    edits: [
      {
        file: "src/engine/breaker.ts",
        find: "return others_ms !== null && others_ms < RECENT_MS && b.failing.every((one) => one === resource);",
        replace: "return others_ms !== null || b.failing.length >= 0;",
      },
    ],
    tests: ["test/sql/breaker.test.ts"],
  },
  {
    name: "everybody probes an upstream that is believed down",
    edits: [
      {
        file: "src/engine/breaker-row.ts",
        find: " and breaker_no = $",
        replace: " and breaker_no >= $",
      },
    ],
    tests: ["test/sql/breaker.test.ts"],
  },
];
