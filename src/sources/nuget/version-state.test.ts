/** Checks that a version ends in the state of its newest event, in whatever order and however often its events are handled. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Event, winnersOf } from "./version-state.ts";

const event = (ticks: number, version_key: string, leaf = `l${ticks}`): Event => ({
  leaf,
  stamp: String(ticks),
  ticks: BigInt(ticks),
  id: "A",
  version: version_key,
  version_key,
});

/** Handles events a few at a time, remembering what the database would. */
function handled(parts: Event[][]): Map<string, Event> {
  const known = new Map<string, Event>();
  for (const part of parts) for (const [key, winner] of winnersOf(part, known)) known.set(key, winner);
  return known;
}

const stamps = (known: Map<string, Event>) => [...known].map(([key, { leaf }]) => [key, leaf]).sort();

describe("events of a package", () => {
  it("D4: unlist and relist end listed, whichever is handled first", () => {
    const [unlist, relist] = [event(1, "1.0.0", "unlist"), event(2, "1.0.0", "relist")];
    for (const parts of [[[unlist, relist]], [[unlist], [relist]], [[relist], [unlist]], [[relist, unlist]]])
      expect(handled(parts).get("1.0.0")).toBe(relist);
  });

  it("D4, D16: end in one state, in any order, cut anywhere, with any of them handled twice", () => {
    const some = fc.array(
      fc.record({ ticks: fc.nat(20), version: fc.constantFrom("1.0.0", "1.1.0", "2.0.0-a"), leaf: fc.nat(3) }),
      {
        minLength: 1,
        maxLength: 30,
      },
    );
    const schedule = fc.infiniteStream(fc.nat(1_000));
    fc.assert(
      fc.property(some, schedule, (given, random) => {
        const events = given.map(({ ticks, version, leaf }) => event(ticks, version, `${ticks}-${leaf}`));
        const next = () => random.next().value as number;
        const shuffled = [...events, ...events.filter(() => next() % 3 === 0)]
          .map((one) => ({ one, by: next() }))
          .sort((a, b) => a.by - b.by)
          .map(({ one }) => one);
        const parts: Event[][] = [];
        for (const one of shuffled) {
          if (parts.length === 0 || next() % 4 === 0) parts.push([]);
          parts.at(-1)!.push(one);
        }
        expect(stamps(handled(parts))).toEqual(
          stamps(handled([events.toSorted((a, b) => (a.ticks < b.ticks ? -1 : 1))])),
        );
      }),
      { numRuns: 3_000 },
    );
  });
});
