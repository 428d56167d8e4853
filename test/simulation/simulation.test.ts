/** Seeded lives of a fleet: whatever dies, pauses or stops, the promises hold at every step, and a failing seed repeats exactly. */

import type { Db } from "tidemark";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openEmbedded } from "../../src/store/embedded.ts";
import { engineFolder, migrate, readMigrations } from "../../src/store/migrate.ts";
import { setDatabaseClock, VirtualClock } from "../../src/testing/virtual-clock.ts";
import { simulationReset, simulationSchema } from "./schema.ts";
import { type Life, World, type WorldOptions } from "./world.ts";

const SEEDS = 100;
const CALM_SEEDS = 10;

let raw: Db;

beforeAll(async () => {
  raw = await openEmbedded({ thread: false });
  await migrate(raw, [await readMigrations("tidemark", engineFolder)]);
  await raw.transaction((tx) => (tx as unknown as { script(text: string): Promise<void> }).script(simulationSchema));
});

afterAll(() => raw.close());

async function live(seed: number, options: WorldOptions = {}): Promise<Life> {
  await raw.transaction((tx) => (tx as unknown as { script(text: string): Promise<void> }).script(simulationReset));
  const clock = new VirtualClock();
  const db = await setDatabaseClock(raw, clock);
  return new World(db, clock, seed, options).live();
}

it(`keeps every promise over ${SEEDS} lives with deaths and pauses`, { timeout: 600_000 }, async () => {
  let deaths = 0;
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const life = await live(seed);
    deaths += life.deaths;
    expect(life.breaches, `seed ${seed}`).toEqual([]);
  }
  expect(deaths).toBeGreaterThan(SEEDS);
});

it(`charges nobody over ${CALM_SEEDS} lives in which workers only stop in good order`, {
  timeout: 300_000,
}, async () => {
  for (let seed = 1; seed <= CALM_SEEDS; seed += 1)
    expect((await live(seed, { calm: true })).breaches, `seed ${seed}`).toEqual([]);
});

it("repeats a seed exactly", async () => {
  expect(await live(7)).toEqual(await live(7));
});
