/** Allowances of calls over all workers, kept in the database: each statement takes from several budgets at once, or from none. */
import sql from "sql-template-tag";
import type { Queryable } from "../store/db.ts";
import type { BudgetRow } from "./share.ts";

/** Makes the rows of budgets, or brings them up to date with what the code declares; one that changed begins empty. */
export async function declareBudgets(db: Queryable, rows: BudgetRow[]): Promise<void> {
  for (const row of rows) {
    const { share, reserved, capacity } = row;
    const full = row.shape === "pace" ? capacity : capacity.map(() => 0);
    await db.query(sql`
      insert into tidemark.budget as b (budget, upstream, shape, room, burst, per_ms, period_ms, life_ms, share, reserved, capacity,
                                        level, refused_at, refused_ms)
      values (${row.budget}, ${row.upstream}, ${row.shape}, ${row.room}::float8, ${row.burst}::float8, ${row.per_ms}::float8,
              ${row.period_ms}::float8, ${row.life_ms}::float8, ${share}::text[], ${reserved}::float8[], ${capacity}::float8[], ${full}::float8[],
              array_fill('-infinity'::timestamptz, array[${share.length}::int]), array_fill(0::float8, array[${share.length}::int]))
      on conflict (budget) do update
         set shape = excluded.shape, room = excluded.room, burst = excluded.burst, per_ms = excluded.per_ms,
             period_ms = excluded.period_ms, life_ms = excluded.life_ms, share = excluded.share, reserved = excluded.reserved, capacity = excluded.capacity,
             level = array_fill(0::float8, array[${share.length}::int]), lent = 0, at = tidemark.now(),
             foreign_used = case when b.shape = 'window' then b.foreign_used + (select sum(l) from unnest(b.level) as l) else 0 end,
             -- Which share spent it is not known any more, but until when it counts is.
             window_until = case when b.told then b.window_until else greatest(b.window_until, (select max(o) from unnest(b.out_until) as o)) end,
             out_share = case when b.shape = 'pace' then b.out_share else '{}' end,
             out_units = case when b.shape = 'pace' then b.out_units else '{}' end,
             out_until = case when b.shape = 'pace' then b.out_until else '{}' end,
             refused_at = excluded.refused_at, refused_ms = excluded.refused_ms
       where (b.shape, b.room, b.burst, b.per_ms, b.period_ms, b.life_ms, b.share, b.reserved, b.capacity) is distinct from
             (excluded.shape, excluded.room, excluded.burst, excluded.per_ms, excluded.period_ms, excluded.life_ms, excluded.share,
              excluded.reserved, excluded.capacity)`);
  }
}

export interface Ask {
  upstream: string;
  /** This call tests an upstream that is believed down: its closing is not asked. */
  probe: boolean;
  budgets: string[];
  share: string;
  /** What the first call in line costs of each budget, … */
  need: number[];
  /** … all that wait, … */
  demand: number[];
  /** … and what may be drawn ahead. */
  ahead: number[];
  /** What an older grant left unspent, and of which window. */
  back: number[];
  back_no: bigint[];
  /** How long ago that was drawn, at most. */
  back_age_ms: number;
  /** How long a call that is out counts as such without being renewed. */
  flight_ms: number;
  /** How long the grant should live at least, where answers come late; it is counted for as long. */
  wanted_ms: number;
}

export interface Taken {
  granted: number[];
  nos: bigint[];
  flights: bigint[];
  life_ms: number;
  /** 0 when it was granted; otherwise nothing was taken. */
  wait_ms: number;
  /**
   * Which budget or upstream refused, and why: the budget is spent, enough of its calls are out, it is closed; or the whole upstream
   * is shut, or has to be probed.
   */
  refused: string | null;
  why: "spent" | "out" | "closed" | "shut" | "probe" | null;
  said: string | null;
  /** How fast the refusing budget fills for this share. */
  per_ms: number | null;
  breaker: "closed" | "open" | "probing";
  /** Resources that failed at this upstream since anybody succeeded. */
  failing: number;
  /** Fewer than asked for: some are not declared, and nothing was taken. */
  known: number;
}

/** Takes all or nothing. The whole arithmetic is one statement, so that a worker that freezes holds nobody up. */
export async function takeBudgets(db: Queryable, ask: Ask): Promise<Taken> {
  const { rows } = await db.query<Taken>(sql`
    select granted, nos, flights, life_ms, wait_ms, refused, why, said, per_ms, breaker, failing, known
      from tidemark.take(${ask.upstream}, ${ask.probe}, ${ask.budgets}::text[], ${ask.share}, ${ask.need}::float8[],
                         ${ask.demand}::float8[], ${ask.ahead}::float8[], ${ask.back}::float8[], ${ask.back_no}::bigint[],
                         ${ask.flight_ms}::float8, ${ask.wanted_ms}::float8, ${ask.back_age_ms}::float8)`);
  return rows[0]!;
}

/** What is left of something taken, by budget; fewer than none is what a call cost beyond it. */
export interface Units {
  budgets: string[];
  units: number[];
  nos: bigint[];
  /** How long ago it was taken, at most. */
  age_ms: number;
}

export async function giveBack(db: Queryable, share: string, { budgets, units, nos, age_ms }: Units): Promise<void> {
  await db.query(sql`
    select tidemark.give_back(${budgets}::text[], ${share}, ${units}::float8[], ${nos}::bigint[], ${age_ms}::float8)::text as done`);
}

/** What an upstream says of one of its budgets. */
export interface Said {
  limit: number | null;
  remaining: number | null;
  reset_ms: number | null;
}

export async function correctBudget(db: Queryable, budget: string, no: bigint, said: Said): Promise<void> {
  await db.query(sql`
    select tidemark.correct(${budget}, ${no}::bigint, ${said.limit}::float8, ${said.remaining}::float8, ${said.reset_ms}::float8)::text
        as done`);
}

/** Up to `most` places among the calls that may be out at once; null where the budget is not declared. */
export async function takeFlights(
  db: Queryable,
  budget: string,
  most: number,
  flight_ms: number,
): Promise<bigint[] | null> {
  const { rows } = await db.query<{ taken: bigint[] | null }>(
    sql`select tidemark.take_flights(${budget}, ${most}::int, ${flight_ms}::float8) as taken`,
  );
  return rows[0]!.taken;
}

/** Ends calls that are out; where a gap is kept, it begins now, and is as long as the budget says or as the call wants. */
export async function endFlights(db: Queryable, flights: bigint[], gap_ms = 0): Promise<void> {
  await db.query(sql`
    with ended as (
      delete from tidemark.flight where flight_id = any(${flights}::bigint[]) returning budget
    )
    update tidemark.budget b
       set free_at = tidemark.now() + greatest(b.period_ms, ${gap_ms}::float8) * interval '1 millisecond', at = tidemark.now()
      from ended where b.budget = ended.budget and b.shape = 'gap'`);
}

/** Prolongs calls that are out; says which still were. */
export async function renewFlights(db: Queryable, flights: bigint[], flight_ms: number): Promise<Set<bigint>> {
  const { rows } = await db.query<{ flight_id: bigint }>(sql`
    update tidemark.flight set until = tidemark.now() + ${flight_ms}::float8 * interval '1 millisecond'
     where flight_id = any(${flights}::bigint[]) and until > tidemark.now()
    returning flight_id`);
  return new Set(rows.map((row) => row.flight_id));
}

/** Budgets of accounts, hosts and groups that nobody asked for in a week; whoever does makes them anew. */
export async function dropIdleBudgets(db: Queryable, most: number): Promise<number> {
  const { count } = await db.query(sql`
    delete from tidemark.budget where budget = any(array(
      select budget from tidemark.budget
       where at < tidemark.now() - interval '7 days' and window_until < tidemark.now()
         and (closed_until is null or closed_until < tidemark.now()) limit ${most} for update skip locked))`);
  return count;
}

/** Calls of the dead. */
export async function dropLostFlights(db: Queryable, most: number): Promise<number> {
  const { count } = await db.query(sql`
    delete from tidemark.flight where flight_id = any(array(
      select flight_id from tidemark.flight where until < tidemark.now() - interval '1 minute' limit ${most}))`);
  return count;
}
