/** A simple model of a budget with shares, written from its description and not from its SQL: the two have to agree. */
import type { Budget } from "../../src/index.ts";

export interface Rules {
  budget: Extract<Budget, { shape: "pace" | "window" }>;
  /** What all buckets hold together, and each of them. */
  room: number;
  capacity: number[];
  reserved: number[];
}

/** Time is in milliseconds since the beginning. */
export class BudgetModel {
  readonly #rules: Rules;
  #now_ms = 0;
  /** pace: what is in each bucket; window: what each share has spent. */
  #units: number[];
  #lent = 0;
  #window = { no: 0, until_ms: Number.NEGATIVE_INFINITY };
  #closed_ms = 0;

  constructor(rules: Rules) {
    this.#rules = rules;
    this.#units = rules.budget.shape === "pace" ? [...rules.capacity] : rules.capacity.map(() => 0);
  }

  get window_no(): number {
    return this.#window.no;
  }

  pass(ms: number): void {
    this.#now_ms += ms;
    const { budget, reserved, capacity } = this.#rules;
    if (budget.shape === "window") {
      if (this.#now_ms >= this.#window.until_ms) this.#units = this.#units.map(() => 0);
      return;
    }
    for (const [i, part] of reserved.entries()) this.#put(i, (budget.per_second * part * ms) / 1000, capacity[i]!);
    this.#spill();
  }

  /** Into the bucket; what does not fit is lent. */
  #put(i: number, units: number, capacity: number): void {
    const over = Math.max(0, this.#units[i]! + units - capacity);
    this.#units[i]! += units - over;
    this.#lent += over;
  }

  /** What does not fit into the whole is lost. */
  #spill(): void {
    const held = this.#units.reduce((sum, n) => sum + Math.max(0, n), 0);
    this.#lent = Math.max(0, Math.min(this.#lent, this.#rules.room - held));
  }

  left(share: number): number {
    const { budget, reserved } = this.#rules;
    if (budget.shape === "pace") return this.#units[share]! + this.#lent;
    const rest = this.#window.until_ms > this.#now_ms ? (this.#window.until_ms - this.#now_ms) / budget.period_ms : 1;
    const kept = reserved.map((part, i) => Math.max(0, part * budget.most - this.#units[i]!) * Math.min(1, rest));
    const others = kept.reduce((sum, n, i) => (i === share ? sum : sum + n), 0);
    return budget.most - this.#units.reduce((sum, n) => sum + n, 0) - others;
  }

  /** What is granted; 0 when it is refused. */
  take(share: number, need: number, demand: number, ahead: number): number {
    const left = this.left(share);
    if (this.#closed_ms > this.#now_ms || left < need - 1e-9) return 0;
    const asked = Math.max(need, Math.min(demand, left));
    const units = asked + Math.max(0, Math.min(ahead, (left - asked) / 4));
    const { budget } = this.#rules;
    if (budget.shape === "window") {
      if (this.#now_ms >= this.#window.until_ms)
        this.#window = { no: this.#window.no + 1, until_ms: this.#now_ms + budget.period_ms };
      this.#units[share]! += units;
      return units;
    }
    const own = Math.min(Math.max(0, this.#units[share]!), units);
    const borrowed = Math.min(this.#lent, units - own);
    this.#lent -= borrowed;
    this.#units[share]! -= units - borrowed;
    return units;
  }

  giveBack(share: number, units: number, window_no: number): void {
    if (this.#rules.budget.shape === "pace") {
      this.#put(share, units, this.#rules.capacity[share]!);
      this.#spill();
    } else if (window_no === this.#window.no && this.#window.until_ms > this.#now_ms)
      this.#units[share] = Math.max(0, this.#units[share]! - units);
  }

  close(ms: number): void {
    this.#closed_ms = Math.max(this.#closed_ms, this.#now_ms + ms);
  }
}
