/** schema.sql says what the migrations make, on both databases. */
import { readFile } from "node:fs/promises";
import sql from "sql-template-tag";
import { describe, expect, it } from "vitest";
import { dumpSchema } from "../../src/store/dump.ts";
import { schemaText } from "../../src/store/schema-file.ts";
import { bothStores, testDatabase } from "../postgres.ts";
import { scripted } from "../script.ts";

bothStores("schema.sql", (open) => {
  it("is what `npm run schema` writes", async () => {
    const { db } = await open();
    const file = await readFile(new URL("../../schema.sql", import.meta.url), "utf8");
    expect(await schemaText(db)).toBe(file);
  });
});

describe("a dump", () => {
  const everything = `
    create schema zoo;
    comment on schema zoo is 'Animals.';
    create type zoo.mood as enum ('good', 'bad');
    create domain zoo.name as text not null check (value <> '');
    create sequence zoo.ticket;
    create function zoo.now() returns timestamptz language sql stable as 'select statement_timestamp()';
    comment on function zoo.now() is 'It''s the time.';
    create table zoo.keeper (id bigint generated always as identity primary key, "full name" zoo.name);
    create unlogged table zoo.cache (id int);
    create table zoo.animal (
      id int primary key default nextval('zoo.ticket'),
      keeper bigint references zoo.keeper on delete cascade,
      mate int references zoo.animal deferrable initially deferred,
      born timestamptz not null default zoo.now(),
      mood zoo.mood default 'good',
      label text collate "C" generated always as ('#' || id::text) stored,
      old int,
      weight numeric(6, 2) check (weight > 0),
      photo bytea,
      unique (keeper, born)
    ) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, toast.autovacuum_enabled = false);
    alter table zoo.animal alter column photo set storage external;
    alter table zoo.animal drop column old;
    alter table zoo.keeper add column favourite int references zoo.animal;
    comment on column zoo.animal.born is 'Or hatched.';
    comment on constraint animal_weight_check on zoo.animal is 'Not even mice.';
    create index heavy on zoo.animal (weight desc nulls last) include (mood) where weight > 100;
    comment on index zoo.heavy is 'For the scales.';
    create table zoo.visit (day date not null, n int) partition by range (day);
    create index on zoo.visit (day);
    create table zoo.visit_2026 partition of zoo.visit for values from ('2026-01-01') to ('2027-01-01') with (fillfactor = 90);
    create view zoo.happy as select id from zoo.animal where mood = 'good';
    create materialized view zoo.count as select count(*) as n from zoo.animal;
    create function zoo.touch() returns trigger language plpgsql as $$ begin return new; end $$;
    create function zoo.older(a zoo.animal) returns zoo.animal language plpgsql as $$ begin return a; end $$;
    create trigger touched before update on zoo.animal for each row execute function zoo.touch();
  `;

  it("makes the same schema again when it is run", async () => {
    const [first, second] = await Promise.all([testDatabase(), testDatabase()]);
    await first.db.transaction((tx) => scripted(tx).script(everything));
    const dumped = await dumpSchema(first.db, ["zoo"]);
    await second.db.transaction((tx) => scripted(tx).script(dumped));
    expect(await dumpSchema(second.db, ["zoo"])).toBe(dumped);
  });

  it("tells two schemas apart that differ in one small thing", async () => {
    const { db } = await testDatabase();
    await db.transaction((tx) => scripted(tx).script(everything));
    const changes = [
      sql`alter table zoo.animal alter column born drop not null`,
      sql`alter table zoo.animal alter column born drop default`,
      sql`alter table zoo.animal set (fillfactor = 80)`,
      sql`alter table zoo.animal alter column photo set storage extended`,
      sql`alter table zoo.animal drop constraint animal_weight_check`,
      sql`drop index zoo.heavy`,
      sql`drop trigger touched on zoo.animal`,
      sql`drop sequence zoo.ticket cascade`,
      sql`comment on schema zoo is null`,
      sql`alter type zoo.mood add value 'odd'`,
    ];
    const dumps = [await dumpSchema(db, ["zoo"])];
    for (const change of changes) {
      await db.query(change);
      dumps.push(await dumpSchema(db, ["zoo"]));
    }
    expect(new Set(dumps).size).toBe(changes.length + 1);
  });
});
