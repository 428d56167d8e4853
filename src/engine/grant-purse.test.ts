/** How long grants are asked to live: long enough for a call to leave however slow the database is, and no longer than needed. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { wantedLife_ms } from "./grant-purse.ts";

it("is the usual while answers come soon, and two to four times what they take when they do not", () => {
  expect(wantedLife_ms(5, 400, 0)).toBe(0);
  expect(wantedLife_ms(200, 400, 0)).toBe(0);
  expect(wantedLife_ms(201, 400, 0)).toBe(512);
  expect(wantedLife_ms(3_000, 400, 0)).toBe(8_192);
  expect(wantedLife_ms(600_000, 400, 0)).toBe(65_536);
});

it("fades when the database is quick again", () => {
  let wanted_ms = 8_192;
  const faded: number[] = [];
  while (wanted_ms > 0) {
    wanted_ms = wantedLife_ms(1, 400, wanted_ms);
    faded.push(wanted_ms);
  }
  expect(faded).toEqual([4_096, 2_048, 1_024, 512, 0]);
});

it("lets one of two calls in a row leave in time, whatever answers take", () => {
  fc.assert(
    fc.property(
      fc.array(fc.double({ min: 0.01, max: 30_000, noNaN: true }), { minLength: 2 }),
      fc.double({ min: 16, max: 500, noNaN: true }),
      (answers_ms, life_ms) => {
        let wanted_ms = 0;
        const late = answers_ms.map((took_ms) => {
          const lives_ms = Math.max(life_ms, wanted_ms);
          wanted_ms = wantedLife_ms(took_ms, life_ms, wanted_ms);
          return took_ms >= lives_ms;
        });
        // The second is late only if it took more than twice as long as the first.
        for (const [i, took_ms] of answers_ms.entries())
          if (i > 0 && late[i] && late[i - 1]) expect(took_ms).toBeGreaterThan(2 * answers_ms[i - 1]!);
      },
    ),
  );
});
