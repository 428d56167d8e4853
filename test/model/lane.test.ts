/** Random commands against the engine and a simple model of it: they agree after every single one. */
import fc from "fast-check";
import sql from "sql-template-tag";
import { expect, it } from "vitest";
import { Lanes } from "../../src/engine/lanes.ts";
import { follow } from "../../src/index.ts";
import type { Db } from "../../src/store/db.ts";
import { setDatabaseClock, VirtualClock, wall_ms } from "../../src/testing/virtual-clock.ts";
import { wipe } from "../../src/testing/wipe.ts";
import { testEmbedded } from "../postgres.ts";
import { migrations } from "../sql/toy.ts";
import { commands, type Real, source } from "./commands.ts";
import { Model } from "./model.ts";

const KEYS = ["a", "b", "c"];

async function begin(db: Db): Promise<Real> {
  await wipe(db, [{ name: "toy.log" }]);
  const clock = new VirtualClock();
  const lanes = new Lanes([source]);
  const watched = await setDatabaseClock(db, clock);
  for (const key of KEYS) await follow(watched, lanes, "model", key);
  const { rows } = await db.query<{ key: string; resource_id: bigint }>(
    sql`select key, resource_id from tidemark.resource`,
  );
  return { db: watched, clock, lanes, ids: new Map(rows.map((r) => [r.key, r.resource_id])), believers: [] };
}

interface State {
  key: string;
  lease_no: bigint;
  until_ms: number | null;
  due_ms: number | null;
  failures: number;
  cursor: { at: number } | null;
  mail: bigint;
}

/** The whole state of the engine is that of the model. */
async function agree(model: Model, real: Real): Promise<void> {
  const begun_ms = wall_ms(real.clock) - real.clock.elapsed_ms();
  const { rows } = await real.db.query<State>(sql`
    select r.key, d.lease_no, extract(epoch from d.lease_until)::float8 * 1000 - ${begun_ms}::float8 as until_ms,
           case when d.due_at < 'infinity' then extract(epoch from d.due_at)::float8 * 1000 - ${begun_ms}::float8 end as due_ms,
           d.failures::int as failures, r.cursor, d.mail_seq - d.mail_done as mail
      from tidemark.due d join tidemark.resource r using (resource_id) order by r.key`);
  const { rows: log } = await real.db.query<{ key: string; seen: string }>(
    sql`select key, seen from toy.log order by n`,
  );
  const actual = rows.map((r) => ({
    ...r,
    lease_no: Number(r.lease_no),
    due_ms: r.due_ms ?? Number.POSITIVE_INFINITY,
    cursor: r.cursor?.at ?? 0,
    mail: Number(r.mail),
    handled: log.filter((l) => l.key === r.key).map((l) => Number(l.seen)),
  }));
  const expected = [...model.resources].map(([key, r]) => {
    const { lease_no, until_ms, due_ms, failures, cursor, handled } = r;
    return { key, lease_no, until_ms, due_ms, failures, cursor, mail: r.mail.length, handled };
  });
  expect(actual).toEqual(expected);
}

it("agrees with its model after any commands in any order", { timeout: 240_000 }, async () => {
  const { db } = await testEmbedded({ thread: false, migrations: [migrations] });
  await fc.assert(
    fc.asyncProperty(fc.commands(commands, { maxCommands: 40, size: "max" }), async (all) => {
      const real = await begin(db);
      const model = new Model(KEYS);
      for (const command of all) {
        await command.run(model, real);
        await agree(model, real);
      }
    }),
    { numRuns: 30, interruptAfterTimeLimit: 120_000 },
  );
});
