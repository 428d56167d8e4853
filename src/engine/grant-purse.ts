/** What one line of calls has drawn: the grant being spent, the one drawn before that ran out, and what is to go back. */
import type { Units } from "./budget.ts";

export interface Purse {
  units: number[];
  /** As drawn. */
  granted: number[];
  nos: bigint[];
  /** When it was asked for: the database's moment was no earlier. */
  asked_ms: number;
  until_ms: number;
  life_ms: number;
  failing: number;
}

/** Slower lines draw when they have to: nobody waits long for one statement. */
const BUSY_CALLS = 8;
/** How much more than was just spent a busy line may draw ahead. */
const BUSY_GROWTH = 4;
/** A database that takes longer than half of this is out of order. */
const WANTED_MS_MAX = 65_536;

/**
 * How long a grant should live, by how long the last answer took, so that a call that waits for it can still leave in time however
 * slow the database is; 0 where its usual life will do. Powers of two: each kind is a line in the budget's row.
 */
export function wantedLife_ms(took_ms: number, life_ms: number, wanted_ms: number): number {
  const needed_ms = 2 * took_ms > life_ms ? 2 ** Math.ceil(Math.log2(2 * took_ms)) : 0;
  const fading_ms = wanted_ms / 2 > life_ms ? wanted_ms / 2 : 0;
  return Math.min(WANTED_MS_MAX, Math.max(needed_ms, fading_ms));
}

export class Purses {
  #current: Purse | null = null;
  #next: Purse | null = null;
  #leftover: Pick<Purse, "units" | "nos" | "asked_ms"> | null = null;
  #drawn_ms = Number.NEGATIVE_INFINITY;
  #spent: number[];
  #calls = 0;

  constructor(budgets: number) {
    this.#spent = Array.from({ length: budgets }, () => 0);
  }

  get current(): Purse | null {
    return this.#current;
  }

  /** Takes a call's costs from the grant that is being spent, or from the next; null when neither holds them. */
  spend(costs: number[], now_ms: number): Purse | null {
    if (this.#current && !holds(this.#current, costs, now_ms) && this.#next) this.advance();
    const purse = this.#current;
    if (!purse || !holds(purse, costs, now_ms)) return null;
    for (let k = 0; k < costs.length; k += 1) {
      purse.units[k]! -= costs[k]!;
      this.#spent[k]! += costs[k]!;
    }
    this.#calls += 1;
    return purse;
  }

  /** Whether a busy line should draw the next grant, before those who call have to wait for it. */
  low(now_ms: number): boolean {
    const purse = this.#current;
    if (!purse || this.#next || this.#calls < BUSY_CALLS) return false;
    const aging = purse.until_ms - now_ms < purse.life_ms * 0.4;
    return aging || purse.units.some((left, k) => left < purse.granted[k]! / 2);
  }

  /** As much as half a life of a grant will need, if it goes on as it went. */
  ahead(now_ms: number, life_ms: number): number[] {
    const passed_ms = Math.max(1, now_ms - this.#drawn_ms);
    const part = Math.min(this.#calls < BUSY_CALLS ? 1 : BUSY_GROWTH, life_ms / 2 / passed_ms);
    return this.#spent.map((spent) => spent * part);
  }

  /** What a call cost lately, on average. */
  get usual(): number[] {
    return this.#spent.map((spent) => spent / Math.max(1, this.#calls));
  }

  /** A grant was drawn: it is the next, or the current one where there is none. */
  put(purse: Purse): void {
    this.#drawn_ms = purse.asked_ms;
    this.#spent = this.#spent.map(() => 0);
    this.#calls = 0;
    if (this.#current && this.#next) this.advance();
    if (this.#current) this.#next = purse;
    else this.#current = purse;
  }

  /** Goes on to the next grant; what is left of this one is to go back. */
  advance(): void {
    const old = this.#current;
    this.#current = this.#next;
    this.#next = null;
    if (!old?.units.some((n) => n > 0)) return;
    const left = this.#leftover;
    const same = left?.nos.every((no, k) => no === old.nos[k]);
    const asked_ms = same ? left!.asked_ms : old.asked_ms;
    this.#leftover = { nos: old.nos, asked_ms, units: old.units.map((n, k) => n + (same ? left!.units[k]! : 0)) };
  }

  /** What is to go back, to be asked for once. */
  back(names: string[], now_ms: number): Units | null {
    const left = this.#leftover;
    this.#leftover = null;
    return left && { budgets: names, units: left.units, nos: left.nos, age_ms: now_ms - left.asked_ms };
  }

  clear(): void {
    this.#current = null;
    this.#next = null;
    this.#leftover = null;
  }
}

function holds(purse: Purse, costs: number[], now_ms: number): boolean {
  if (now_ms >= purse.until_ms) return false;
  for (let k = 0; k < costs.length; k += 1) if (purse.units[k]! < costs[k]!) return false;
  return true;
}
