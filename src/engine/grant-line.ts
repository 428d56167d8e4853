/** One line of calls that take the same: small grants drawn ahead, waited for, spent, and given back when they are left over. */
import type { Clock } from "../clock.ts";
import type { TidemarkError } from "../errors.ts";
import type { Db } from "../store/db.ts";
import { declareBudgets, giveBack, type Taken, takeBudgets } from "./budget.ts";
import { busy, type Permit, type Wish } from "./grant-permit.ts";
import { Purses, wantedLife_ms } from "./grant-purse.ts";

/** A longer wait ends the pull with `later` and frees its slot. */
export const WAIT_HERE_MS = 250;
/** Where an allowance is short, calls are gathered this long, so that one statement takes for many. */
const GATHER_MS = 10;
/** How long we believe that an allowance is spent: others may have given something back. */
const BELIEVE_MS = 1_000;
/** How long those wait who would call while another call tests the upstream. */
const PROBED_MS = 2_000;
/** A call that is out and not renewed for so long was a dead worker's. */
export const FLIGHT_MS = 10_000;

export interface GrantParts {
  db: Db;
  clock: Clock;
  /** Asks to be the one call that tests an upstream which is believed down. */
  probe(upstream: string): Promise<boolean>;
  /** … and to be it no longer. */
  leave(upstream: string): Promise<void>;
}

interface Waiter {
  costs: number[];
  since_ms: number;
  /** A longer wait it does not wait for here. */
  patience_ms: number;
  signal: AbortSignal;
  resolve(permit: Permit): void;
  reject(reason: unknown): void;
}

/** All calls of this process that take from the same budgets in the same share. */
export class Line {
  readonly #parts: GrantParts;
  readonly #wish: Wish;
  readonly #names: string[];
  /** With a gap, one call is out at a time: nothing is drawn ahead. */
  readonly #single: boolean;
  #queue: Waiter[] = [];
  readonly #purses: Purses;
  #refilling = false;
  #voided = 0;
  #pumping = false;
  #declared = false;
  #tidying: AbortController | null = null;
  #refused: { taken: Taken; at_ms: number; turned_away: number } | null = null;
  /** How long grants should live at least: longer than usual while the database is slow. */
  #wanted_ms = 0;

  constructor(parts: GrantParts, wish: Wish) {
    this.#parts = parts;
    this.#wish = wish;
    this.#names = wish.budgets.map((b) => b.budget);
    this.#single = wish.budgets.some((b) => b.shape === "gap");
    this.#purses = new Purses(wish.costs.length);
  }

  get idle(): boolean {
    return this.#purses.current === null && this.#queue.length === 0 && !this.#pumping;
  }

  take(costs: number[], signal: AbortSignal, patience_ms = WAIT_HERE_MS): Permit | Promise<Permit> {
    const now_ms = this.#parts.clock.elapsed_ms();
    if (this.#queue.length === 0) {
      const permit = this.#spend(costs, now_ms, 0);
      if (permit) return permit;
    }
    const known_ms = this.#knownWait_ms(now_ms);
    if (known_ms >= patience_ms) throw this.#busy(this.#refused!.taken, known_ms, costs);
    return new Promise((resolve, reject) => {
      this.#queue.push({ costs, since_ms: now_ms, patience_ms, signal, resolve, reject });
      void this.#pump();
    });
  }

  /** How long those who come now would wait, by what we were told a moment ago. */
  #knownWait_ms(now_ms: number): number {
    if (!this.#refused) return 0;
    const { taken, at_ms } = this.#refused;
    if (now_ms - at_ms >= Math.min(BELIEVE_MS, taken.wait_ms)) {
      this.#refused = null;
      return 0;
    }
    return taken.wait_ms - (now_ms - at_ms);
  }

  #spend(costs: number[], now_ms: number, waited_ms: number): Permit | null {
    const purse = this.#purses.spend(costs, now_ms);
    if (!purse) return null;
    if (!this.#refilling && !this.#pumping && this.#purses.low(now_ms)) void this.#refill();
    const { nos, asked_ms, until_ms, failing } = purse;
    const wish = costs === this.#wish.costs ? this.#wish : { ...this.#wish, costs };
    return { wish, nos, asked_ms, until_ms, flights: [], probe: false, waited_ms, failing };
  }

  /** Draws the next grant while this one is still being spent; what comes of it is seen when it is needed. */
  async #refill(): Promise<void> {
    this.#refilling = true;
    const need = this.#purses.usual;
    const voided = this.#voided;
    try {
      const { taken, asked_ms } = await this.#ask(need, need, false);
      const granted = taken.known === this.#names.length && taken.wait_ms === 0;
      // What was drawn before we were told to stop is not spent.
      if (granted && voided === this.#voided) this.#keep(taken, asked_ms);
    } catch {
      // Whoever has to wait will learn why.
    } finally {
      this.#refilling = false;
      void this.#tidy();
    }
  }

  async #pump(): Promise<void> {
    if (this.#pumping) return;
    this.#pumping = true;
    try {
      while (this.#queue.length > 0) {
        this.#serve();
        if (this.#queue.length > 0) await this.#draw(false);
      }
    } catch (thrown) {
      for (const waiter of this.#queue.splice(0)) waiter.reject(thrown);
    } finally {
      this.#pumping = false;
      void this.#tidy();
    }
  }

  #serve(): void {
    const now_ms = this.#parts.clock.elapsed_ms();
    let served = 0;
    for (const waiter of this.#queue) {
      if (waiter.signal.aborted) waiter.reject(waiter.signal.reason);
      else {
        const permit = this.#spend(waiter.costs, now_ms, now_ms - waiter.since_ms);
        if (!permit) break;
        waiter.resolve(permit);
      }
      served += 1;
    }
    this.#queue.splice(0, served);
  }

  async #draw(probe: boolean): Promise<void> {
    const { db } = this.#parts;
    if (!this.#declared) await declareBudgets(db, this.#wish.budgets);
    this.#declared = true;
    const first = this.#queue[0]!;
    const all = first.costs.map((_, k) => this.#queue.reduce((sum, waiter) => sum + waiter.costs[k]!, 0));
    this.#purses.advance();
    const voided = this.#voided;
    const { taken, asked_ms } = await this.#ask(first.costs, this.#single || probe ? first.costs : all, probe);
    this.#declared = taken.known === this.#names.length;
    if (!this.#declared) return;
    if (taken.wait_ms > 0) return this.#wait(taken, probe);
    this.#refused = null;
    const { nos, failing, flights } = taken;
    if (!this.#single && !probe) {
      this.#keep(taken, asked_ms);
      // It was granted before we were told to stop: it goes back.
      if (voided !== this.#voided) this.#purses.advance();
    } else this.#give(first, { nos, asked_ms, until_ms: asked_ms + taken.life_ms, failing, flights, probe });
  }

  /** Whoever tests an upstream still does when its permit is too old; it stands in no line, since there is none. */
  async testAgain(costs: number[]): Promise<Permit> {
    const { taken, asked_ms } = await this.#ask(costs, costs, true);
    if (taken.wait_ms > 0) {
      await this.#parts.leave(this.#wish.upstream);
      throw this.#busy(taken, taken.wait_ms, costs);
    }
    const { nos, failing, flights } = taken;
    const until_ms = asked_ms + taken.life_ms;
    return { wish: { ...this.#wish, costs }, nos, asked_ms, until_ms, failing, flights, probe: true, waited_ms: 0 };
  }

  async #ask(need: number[], demand: number[], probe: boolean): Promise<{ taken: Taken; asked_ms: number }> {
    const { clock, db } = this.#parts;
    const asked_ms = clock.elapsed_ms();
    const life_ms = Math.min(...this.#wish.budgets.map((b) => b.life_ms), 500);
    const back = this.#purses.back(this.#names, asked_ms);
    const taken = await takeBudgets(db, {
      upstream: this.#wish.upstream,
      probe,
      budgets: this.#names,
      share: this.#wish.share,
      need,
      demand,
      ahead: this.#single || probe ? need.map(() => 0) : this.#purses.ahead(asked_ms, life_ms),
      back: back?.units ?? need.map(() => 0),
      back_no: back?.nos ?? need.map(() => 0n),
      back_age_ms: back?.age_ms ?? 0,
      flight_ms: FLIGHT_MS + this.#wanted_ms,
      wanted_ms: this.#wanted_ms,
    });
    this.#wanted_ms = wantedLife_ms(clock.elapsed_ms() - asked_ms, life_ms, this.#wanted_ms);
    return { taken, asked_ms };
  }

  #keep({ granted, nos, failing, life_ms }: Taken, asked_ms: number): void {
    // From before we asked: the database's moment was no earlier, so no call leaves later than its grant lives.
    const until_ms = asked_ms + life_ms;
    this.#purses.put({ units: [...granted], granted, nos, failing, life_ms, asked_ms, until_ms });
  }

  #give(first: Waiter, granted: Omit<Permit, "wish" | "waited_ms">): void {
    this.#queue.shift();
    const waited_ms = this.#parts.clock.elapsed_ms() - first.since_ms;
    first.resolve({ ...granted, wish: { ...this.#wish, costs: first.costs }, waited_ms });
  }

  /** A short wait is waited here; a long one ends the pulls that wait, each with the time of its own turn. */
  async #wait(taken: Taken, probing: boolean): Promise<void> {
    const { clock, probe, leave } = this.#parts;
    if (probing) await leave(this.#wish.upstream);
    else if (taken.why === "probe" && (await probe(this.#wish.upstream))) return this.#draw(true);
    // The one call that tests it will soon be back, and most often it is well then.
    const tested = taken.why === "probe" || (taken.why === "shut" && taken.breaker === "probing");
    const wait_ms = tested ? Math.min(Math.max(taken.wait_ms, BELIEVE_MS), PROBED_MS) : taken.wait_ms;
    const told = { ...taken, wait_ms };
    const now_ms = clock.elapsed_ms();
    this.#refused = { taken: told, at_ms: now_ms, turned_away: 0 };
    const patient: Waiter[] = [];
    for (const waiter of this.#queue) {
      const here_ms = now_ms - waiter.since_ms + wait_ms + this.#behind_ms(told, patient.length, waiter.costs);
      if (here_ms < waiter.patience_ms) patient.push(waiter);
      else waiter.reject(this.#busy(told, wait_ms, waiter.costs));
    }
    this.#queue = patient;
    if (patient.length > 0) await clock.sleep(Math.max(wait_ms, GATHER_MS));
  }

  /** How much longer those have to wait who stand behind others. */
  #behind_ms(taken: Taken, place: number, costs: number[]): number {
    if (taken.why === "out") return place * 25;
    const k = this.#names.indexOf(taken.refused ?? "");
    return taken.per_ms && k >= 0 ? (place * costs[k]!) / taken.per_ms : 0;
  }

  #busy(taken: Taken, wait_ms: number, costs: number[]): TidemarkError {
    const place = this.#refused ? this.#refused.turned_away++ : 0;
    return busy(this.#wish, taken, Math.max(wait_ms, WAIT_HERE_MS) + this.#behind_ms(taken, place, costs));
  }

  /** Gives back what is not spent while the grant lives. */
  async #tidy(): Promise<void> {
    if (!this.#purses.current || this.#tidying) return;
    const tidying = new AbortController();
    this.#tidying = tidying;
    for (let purse = this.#purses.current; purse && !tidying.signal.aborted; purse = this.#purses.current) {
      const left_ms = purse.until_ms - this.#parts.clock.elapsed_ms();
      if (left_ms > 0) await this.#parts.clock.sleep(left_ms, tidying.signal);
      else if (this.#pumping) break;
      else await this.#return();
    }
    this.#tidying = null;
  }

  async #return(): Promise<void> {
    this.#purses.advance();
    const back = this.#purses.back(this.#names, this.#parts.clock.elapsed_ms());
    // What cannot be given back counts as spent.
    if (back) await giveBack(this.#parts.db, this.#wish.share, back).catch(() => undefined);
  }

  /** Forgets what was drawn: the upstream says that there is nothing left, or that we must wait. */
  void(): void {
    this.#purses.clear();
    this.#voided += 1;
    this.#refused = null;
    this.#tidying?.abort();
  }

  async close(): Promise<void> {
    this.#tidying?.abort();
    while (this.#purses.current) await this.#return();
  }
}
