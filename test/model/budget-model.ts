/** A simple model of a budget with shares, written from its description and not from its SQL: the two have to agree. */
import type { Budget } from "../../src/index.ts";

export interface Rules {
  budget: Extract<Budget, { shape: "pace" | "window" }>;
  /** What all buckets hold together, and each of them. */
  room: number;
  capacity: number[];
  reserved: number[];
}

/** Something drawn, and until when it counts. */
interface Out {
  share: number;
  units: number;
  until_ms: number;
}

const sum = (all: number[]): number => all.reduce((a, b) => a + b, 0);
const positive = (n: number): number => Math.max(0, n);

/** Time is in milliseconds since the epoch, since moments are rounded by it. */
export class BudgetModel {
  readonly #rules: Rules;
  #now_ms: number;
  #at_ms: number;
  /** pace: what is in each bucket; window: what each share has spent. */
  #units: number[];
  #lent = 0;
  #out: Out[] = [];
  #window = { no: 0, until_ms: Number.NEGATIVE_INFINITY };
  #closed_ms = 0;

  constructor(rules: Rules, now_ms: number) {
    this.#rules = rules;
    this.#now_ms = now_ms;
    this.#at_ms = now_ms;
    this.#units = rules.budget.shape === "pace" ? [...rules.capacity] : rules.capacity.map(() => 0);
  }

  get window_no(): number {
    return this.#window.no;
  }

  pass(ms: number): void {
    this.#now_ms += ms;
  }

  /** Brings it up to this moment. */
  #catchUp(): void {
    const passed_ms = this.#now_ms - this.#at_ms;
    this.#at_ms = this.#now_ms;
    if (this.#rules.budget.shape === "pace") this.#fill(passed_ms, this.#rules.budget);
    else for (const { share, units } of this.#takeOver()) this.#units[share] = positive(this.#units[share]! - units);
  }

  /** What is out no longer, in the order of its ends. */
  #takeOver(): Out[] {
    const over = this.#out.filter((out) => out.until_ms <= this.#now_ms).sort((a, b) => a.until_ms - b.until_ms);
    this.#out = this.#out.filter((out) => out.until_ms > this.#now_ms);
    return over;
  }

  #fill(passed_ms: number, { burst, per_second }: { burst: number; per_second: number }): void {
    const { reserved, capacity, room } = this.#rules;
    let outside = sum(this.#out.map((out) => out.units));
    let most = Number.POSITIVE_INFINITY;
    // Until something came back, the buckets held no more than the rest of the burst.
    for (const { until_ms, units } of this.#takeOver()) {
      most = Math.min(most, burst - outside + ((this.#now_ms - until_ms) * per_second) / 1000);
      outside -= units;
    }
    most = positive(Math.min(most, burst - outside));
    const was = [...this.#units];
    for (const [i, part] of reserved.entries()) {
      const full = this.#units[i]! + (per_second * part * passed_ms) / 1000;
      this.#units[i] = Math.min(full, capacity[i]!);
      this.#lent += positive(full - capacity[i]!);
    }
    const held = sum(this.#units.map(positive));
    this.#lent = positive(Math.min(this.#lent, room - held, most - held));
    const gains = this.#units.map((n, i) => positive(n) - positive(was[i]!));
    const cut = sum(gains) > 0 ? Math.min(1, positive(held - most) / sum(gains)) : 0;
    this.#units = this.#units.map((n, i) => n - gains[i]! * cut);
  }

  left(share: number): number {
    this.#catchUp();
    const { budget, reserved } = this.#rules;
    if (budget.shape === "pace") return this.#units[share]! + this.#lent;
    const rest = this.#window.until_ms > this.#now_ms ? (this.#window.until_ms - this.#now_ms) / budget.period_ms : 1;
    const kept = reserved.map((part, i) => positive(part * budget.most - this.#units[i]!) * Math.min(1, rest));
    return budget.most - sum(this.#units) - sum(kept.filter((_, i) => i !== share));
  }

  /** What is granted; 0 when it is refused. */
  take(share: number, need: number, demand: number, ahead: number, life_ms: number): number {
    const left = this.left(share);
    if (this.#closed_ms > this.#now_ms || left < need - 1e-9) return 0;
    const asked = Math.max(need, Math.min(demand, left));
    const units = asked + positive(Math.min(ahead, (left - asked) / 4));
    const { budget } = this.#rules;
    if (budget.shape === "window") {
      if (this.#now_ms >= this.#window.until_ms)
        this.#window = { no: this.#window.no + 1, until_ms: this.#now_ms + budget.period_ms };
      this.#units[share]! += units;
      this.#note(share, units, this.#now_ms + budget.period_ms + life_ms, budget.period_ms / 16);
      return units;
    }
    const own = Math.min(positive(this.#units[share]!), units);
    const borrowed = Math.min(this.#lent, units - own);
    this.#lent -= borrowed;
    this.#units[share]! -= units - borrowed;
    this.#note(0, units, this.#now_ms + life_ms, life_ms / 4);
    return units;
  }

  #note(share: number, units: number, until_ms: number, step_ms: number): void {
    this.#out.push({ share, units, until_ms: Math.ceil(until_ms / step_ms - 1e-6) * step_ms });
  }

  giveBack(share: number, units: number, window_no: number, age_ms: number): void {
    this.#catchUp();
    const { budget, capacity } = this.#rules;
    if (budget.shape === "pace") {
      const held = sum(this.#units.map(positive)) + this.#lent + sum(this.#out.map((out) => out.units));
      const debt = positive(-this.#units[share]!);
      this.#units[share]! += Math.min(units, positive(budget.burst - held) + debt);
      // What does not fit into the bucket is lent.
      this.#lent += positive(this.#units[share]! - capacity[share]!);
      this.#units[share] = Math.min(this.#units[share]!, capacity[share]!);
      this.#fill(0, budget);
    } else if (window_no === this.#window.no && this.#window.until_ms > this.#now_ms)
      this.#takeOff(share, units, this.#now_ms - age_ms + budget.period_ms, budget.period_ms);
  }

  /** Units that came back are taken off what is out, from where they were noted on. */
  #takeOff(share: number, units: number, since_ms: number, period_ms: number): void {
    if (units < 0) {
      this.#note(share, -units, this.#now_ms + period_ms, period_ms / 16);
      this.#units[share]! -= units;
      return;
    }
    const mine = this.#out.filter((out) => out.share === share && out.until_ms >= since_ms - 1e-6);
    let left = units;
    for (const out of mine.sort((a, b) => a.until_ms - b.until_ms)) {
      const part = Math.min(left, out.units);
      out.units -= part;
      left -= part;
    }
    this.#units[share] = positive(this.#units[share]! - (units - left));
  }

  close(ms: number): void {
    this.#closed_ms = Math.max(this.#closed_ms, this.#now_ms + ms);
  }
}
