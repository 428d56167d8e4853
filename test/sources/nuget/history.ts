/** A random past of a few packages, and the state in which each version has to end. */
import type { FeedEvent, NuGetFeed } from "../../../src/demo/nuget/feed.ts";
import { ticksOf } from "../../../src/sources/nuget/stamp.ts";
import type { Random } from "../../simulation/random.ts";

export interface Happened {
  key: string;
  ticks: bigint;
  deleted: boolean;
  listed: boolean;
}

/** Pushed, hidden, shown, deleted, pushed again: commit by commit, on pages that are filled in no order, some commits on two of them. */
export class History {
  readonly all: Happened[] = [];
  readonly #feed: NuGetFeed;
  readonly #random: Random;
  readonly #packages: number;

  constructor(feed: NuGetFeed, random: Random, packages: number) {
    this.#feed = feed;
    this.#random = random;
    this.#packages = packages;
  }

  commit(): void {
    const random = this.#random;
    const chosen = new Map<string, { event: FeedEvent; deleted: boolean; listed: boolean }>();
    for (let n = random.between(1, 4); n > 0; n -= 1) {
      // The first package is the hot one.
      const id = random.chance(0.3) ? "P0" : `P${random.between(0, this.#packages - 1)}`;
      const version = `1.${random.between(0, 4)}.0`;
      const deleted = random.chance(0.15);
      const listed = !deleted && random.chance(0.5);
      const event = deleted ? { id, version, deletes: true } : { id, version, leaf: { listed } };
      chosen.set(`${id}/${version}`.toLowerCase(), { event, deleted, listed });
    }
    const events = [...chosen.values()].map(({ event }) => event);
    const split = events.length > 1 && random.chance(0.2) ? { split: 1 } : {};
    const ticks = ticksOf(this.#feed.commit(events, split))!;
    for (const [key, { deleted, listed }] of chosen) this.all.push({ key, ticks, deleted, listed });
  }

  /** The state of each version after its last event, by its name. */
  get end(): Record<string, Omit<Happened, "key">> {
    return Object.fromEntries(this.all.map(({ key, ...state }) => [key, state]));
  }

  get last(): bigint {
    return this.all.at(-1)!.ticks;
  }

  /** What should be in a mirror whose public cursor is there, and is not. */
  missing(position: bigint, mirrored: Map<string, bigint>): Happened[] {
    return this.all.filter(({ key, ticks }) => ticks <= position && (mirrored.get(key) ?? 0n) < ticks);
  }
}
