/** Many channels over the one connection for notifications: no statement meets another, and nobody is made deaf. */
import sql from "sql-template-tag";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Db } from "../../src/store/db.ts";
import { openPostgres } from "../../src/store/postgres.ts";
import { testDatabase } from "../postgres.ts";

let db: Db;
beforeAll(async () => {
  const { url } = await testDatabase();
  db = openPostgres(url, { max: 1 });
});
afterAll(() => db.close());

const notify = (channel: string, payload: string) => db.query(sql`select pg_notify(${channel}, ${payload})`);

it("listening to many channels at once asks the connection one thing at a time", async () => {
  // The driver warns once in a process, when a statement is given to a client that is busy.
  const warnings: string[] = [];
  const warned = (warning: Error) => warnings.push(warning.message);
  process.on("warning", warned);
  const stops = await Promise.all(["a", "b", "c"].map((channel) => db.listen(channel, () => {})));
  await Promise.all([...stops.slice(1).map((stop) => stop()), db.listen("d", () => {}).then((stop) => stop())]);
  await stops[0]!();
  process.off("warning", warned);
  expect(warnings).toEqual([]);
});

it("whoever begins to listen while the last one stops is heard", async () => {
  const stopOther = await db.listen("other", () => {});
  const stopFirst = await db.listen("same", () => {});
  const heard: string[] = [];
  const [, stopSecond] = await Promise.all([stopFirst(), db.listen("same", (payload) => heard.push(payload))]);
  await notify("same", "hello");
  // Notifications arrive in order, so whoever could hear the first has heard it when the second is here.
  await new Promise<void>((resolve, reject) => {
    db.listen("last", () => resolve()).then(() => notify("last", ""), reject);
  });
  expect(heard).toEqual(["hello"]);
  await Promise.all([stopOther(), stopSecond()]);
});
