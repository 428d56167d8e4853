/** The commands that may happen in any order, each done to the model and to the real engine. */
import fc from "fast-check";
import sql from "sql-template-tag";
import { z } from "zod";
import { commit } from "../../src/engine/commit.ts";
import { expire } from "../../src/engine/holds.ts";
import type { Lanes } from "../../src/engine/lanes.ts";
import { claim, handBack, type Lease, renew } from "../../src/engine/lease.ts";
import { post, readMail } from "../../src/engine/mailbox.ts";
import { endOf } from "../../src/engine/outcome.ts";
import { lockDue, makeDue } from "../../src/engine/resources.ts";
import type { Unit } from "../../src/engine/unit.ts";
import { every, fresh, kind, later, type Outcome, pause, resume, type Source } from "../../src/index.ts";
import type { Db } from "../../src/store/db.ts";
import type { VirtualClock } from "../../src/testing/virtual-clock.ts";
import { type Model, TTL } from "./model.ts";

const box = kind<{ at: number }, number>({
  upstream: { name: "model" },
  schedule: every(10_000),
  cursor: z.object({ at: z.number() }).default({ at: 0 }),
  position: (c) => BigInt(c.at),
  message: z.number(),
  receive: async () => ({}),
});
export const source: Source = { name: "model", kinds: { box }, follow: (key) => ({ kind: "box", key }) };

/** The real thing: the database, and every lease that was ever given out, by whoever still believes in it. */
export interface Real {
  db: Db;
  clock: VirtualClock;
  lanes: Lanes;
  ids: Map<string, bigint>;
  believers: { key: string; lease: Lease; cursor: number }[];
}

export type Command = fc.AsyncCommand<Model, Real>;

const check = (holds: boolean, sentence: string) => {
  if (!holds) throw new Error(sentence);
};

/** One of all leases ever given out, dead or alive. */
const believer = (real: Real, pick: number) => real.believers[pick % Math.max(1, real.believers.length)];

function unitOf(lease: Lease, cursor: number, outcome: Outcome | null): Unit {
  const end = outcome ? () => ({ ...endOf(outcome, lease, box, false, lease.now_ms), ...waits(outcome) }) : null;
  const { generation, mail_done } = lease;
  return { lease, kind: box, batch: null, cursor: { at: cursor }, generation, handled: [], mail_done, end };
}

/** Plain waits, so that the model needs no schedule. */
const waits = (outcome: Outcome) => ({ wait_ms: outcome.outcome === "later" ? outcome.wait_ms : 5_000 });

class Claim implements Command {
  check = () => true;
  async run(model: Model, real: Real) {
    const wants = real.lanes.rows().map(({ lane_id }) => ({ lane_id, mark: "-infinity", most: 100, ahead_ms: 0 }));
    const leases = await claim(real.db, wants, { worker_id: 1, ttl_ms: TTL });
    const expected = model.claimable();
    check(
      leases
        .map((l) => l.key)
        .sort()
        .join() === expected.sort().join(),
      `claimed ${leases.map((l) => l.key)} instead of ${expected}`,
    );
    for (const lease of leases) {
      check(
        Number(lease.lease_no) === model.claim(lease.key),
        `lease ${lease.lease_no} of ${lease.key} is not the next number`,
      );
      check(
        ((lease.cursor as { at: number } | null)?.at ?? 0) === model.of(lease.key).cursor,
        `the cursor of ${lease.key} is another`,
      );
      real.believers.push({ key: lease.key, lease, cursor: model.of(lease.key).cursor });
    }
  }
  toString = () => "claim";
}

class Pass implements Command {
  constructor(readonly ms: number) {}
  check = () => true;
  async run(model: Model, real: Real) {
    await real.clock.advance(this.ms);
    model.now_ms += this.ms;
  }
  toString = () => `pass ${this.ms} ms`;
}

class Expire implements Command {
  check = () => true;
  async run(model: Model, real: Real) {
    const { ended } = await expire(real.db, "-infinity", 100);
    check(ended.length === model.expire().length, `${ended.length} leases expired`);
  }
  toString = () => "expire";
}

/** Somebody commits under a lease that may be long over: a cursor, mail handled, perhaps the end. */
class Commit implements Command {
  constructor(
    readonly pick: number,
    readonly mail: boolean,
    readonly outcome: Outcome | null,
  ) {}
  check = () => true;
  async run(model: Model, real: Real) {
    const who = believer(real, this.pick);
    if (!who) return;
    const { key, lease } = who;
    const unit = unitOf(lease, who.cursor, this.outcome);
    if (this.mail && this.outcome) {
      const read = await readMail(real.db, [{ resource_id: lease.resource_id, most: 2 }]);
      unit.handled = read.get(lease.resource_id) ?? [];
      unit.mail_done = unit.handled.at(-1)?.seq ?? lease.mail_done;
    } else unit.batch = { cursor: { at: who.cursor + 1 } };
    unit.batch ??= {};
    const seen = unit.handled.map((m) => String(m.payload));
    unit.batch.write = async (tx) =>
      void (await tx.query(
        sql`insert into toy.log (key, seen) select ${key}, s from unnest(${seen}::text[]) with ordinality u(s, n) order by n`,
      ));
    const [result] = await commit(real.db, real.lanes, [unit], TTL);
    const may = model.holds(key, Number(lease.lease_no));
    check(
      result!.committed === may,
      `a commit under lease ${lease.lease_no} of ${key} ${may ? "was refused" : "went through"}`,
    );
    if (!may) return;
    const r = model.of(key);
    if (unit.batch.cursor !== undefined) {
      who.cursor += 1;
      r.cursor = who.cursor;
    }
    r.handled.push(...r.mail.splice(0, unit.handled.length));
    if (this.outcome?.outcome === "fresh") r.failures = 0;
    if (this.outcome)
      model.end(key, waits(this.outcome).wait_ms, this.outcome.outcome === "later", this.outcome.outcome === "fresh");
  }
  toString = () => `commit(${this.pick}${this.mail ? ", mail" : ""}, ${this.outcome?.outcome ?? "goes on"})`;
}

class Renew implements Command {
  constructor(readonly pick: number) {}
  check = () => true;
  async run(model: Model, real: Real) {
    const who = believer(real, this.pick);
    if (!who) return;
    const ours = await renew(real.db, [who.lease], TTL);
    const may = model.holds(who.key, Number(who.lease.lease_no));
    check(ours.size === (may ? 1 : 0), `a renewal of lease ${who.lease.lease_no} of ${who.key} went wrong`);
    if (may) model.of(who.key).until_ms = model.now_ms + TTL;
  }
  toString = () => `renew(${this.pick})`;
}

class HandBack implements Command {
  constructor(readonly pick: number) {}
  check = () => true;
  async run(model: Model, real: Real) {
    const who = believer(real, this.pick);
    if (!who) return;
    const count = await handBack(real.db, [who.lease]);
    const r = model.of(who.key);
    // Also one that has ended may be given back, as long as nobody noticed.
    const may = r.lease_no === Number(who.lease.lease_no) && r.until_ms !== null;
    check(count === (may ? 1 : 0), `handing back lease ${who.lease.lease_no} of ${who.key} went wrong`);
    if (may) model.handBack(who.key);
  }
  toString = () => `hand back(${this.pick})`;
}

/** What others do to a resource by its name. */
class Do implements Command {
  constructor(
    readonly verb: "post" | "touch" | "pause" | "resume",
    readonly pick: number,
  ) {}
  check = () => true;
  async run(model: Model, real: Real) {
    const key = [...model.resources.keys()][this.pick % model.resources.size]!;
    const id = real.ids.get(key)!;
    const named = { source: "model", kind: "box", key };
    if (this.verb === "pause") await pause(real.db, named);
    else if (this.verb === "resume") await resume(real.db, named);
    else
      await real.db.transaction(async (tx) => {
        await lockDue(tx, [id]);
        if (this.verb === "touch") return makeDue(tx, [id]);
        const payload = String(model.posted + 1);
        await post(tx, [{ resource_id: id, origin_id: id, position: null, coalesce_key: null, payload }]);
      });
    model[this.verb](key);
  }
  toString = () => `${this.verb}(${this.pick})`;
}

const pick = fc.nat(20);
const outcome = fc.constantFrom<Outcome | null>(null, fresh(), later(3_000, "wait"));

export const commands = [
  fc.constant(new Claim()),
  fc.constant(new Claim()),
  fc.constantFrom(1, 400, 1_000, 6_000).map((ms) => new Pass(ms)),
  fc.constant(new Expire()),
  fc.tuple(pick, fc.boolean(), outcome).map(([p, mail, o]) => new Commit(p, mail, o)),
  fc.tuple(pick, fc.boolean(), outcome).map(([p, mail, o]) => new Commit(p, mail, o)),
  pick.map((p) => new Renew(p)),
  pick.map((p) => new HandBack(p)),
  fc
    .tuple(fc.constantFrom("post", "post", "touch", "pause", "resume"), pick)
    .map(([verb, p]) => new Do(verb as "post", p)),
];
