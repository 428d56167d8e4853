/** Checks how free slots are shared among lanes: all given out, nobody above their room, as even as can be. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { shareOut } from "./claims.ts";

const rooms = fc.array(fc.integer({ min: -3, max: 300 }), { maxLength: 40 });
const free = fc.integer({ min: -5, max: 2000 });
const turn = fc.nat(1_000_000);
const sum = (parts: number[]) => parts.reduce((a, b) => a + b, 0);

describe("sharing free slots among lanes", () => {
  it("gives out all that there is room for, and never more", () => {
    fc.assert(
      fc.property(free, rooms, turn, (n, all, t) => {
        const parts = shareOut(n, all, t);
        expect(parts).toHaveLength(all.length);
        expect(sum(parts)).toBe(Math.min(Math.max(0, n), sum(all.map((r) => Math.max(0, r)))));
      }),
    );
  });

  it("gives no lane more than its room", () => {
    fc.assert(
      fc.property(free, rooms, turn, (n, all, t) =>
        shareOut(n, all, t).every((p, i) => p >= 0 && p <= Math.max(0, all[i]!)),
      ),
    );
  });

  it("gives a lane that wants more at most one less than any other gets", () => {
    fc.assert(
      fc.property(free, rooms, turn, (n, all, t) => {
        const parts = shareOut(n, all, t);
        const most = Math.max(0, ...parts);
        for (const [i, part] of parts.entries()) if (part < all[i]!) expect(part).toBeGreaterThanOrEqual(most - 1);
      }),
    );
  });

  it("hands the odd slots round by turns, so that every lane comes first now and then", () => {
    const total = [0, 0, 0];
    for (let t = 0; t < 3; t += 1) for (const [i, p] of shareOut(1, [9, 9, 9], t).entries()) total[i]! += p;
    expect(total).toEqual([1, 1, 1]);
  });

  it("lets one lane have everything when it is alone", () => {
    expect(shareOut(100, [500], 7)).toEqual([100]);
    expect(shareOut(100, [0, 500, 0], 7)).toEqual([0, 100, 0]);
    expect(shareOut(10, [], 0)).toEqual([]);
  });
});
