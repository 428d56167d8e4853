/** Every grant of this process, found by what a call takes, so that the hot path does not ask the database each time. */
import { giveBack } from "./budget.ts";
import { type GrantParts, Line } from "./grant-line.ts";
import type { Permit, Wish } from "./grant-permit.ts";

const LINES_MOST = 10_000;

/** Every line of this process, found by what a call takes. */
export class Grants {
  readonly #parts: GrantParts;
  readonly #lines = new Map<string, { line: Line; upstream: string; budgets: Set<string> }>();

  constructor(parts: GrantParts) {
    this.#parts = parts;
  }

  take(wish: Wish, signal: AbortSignal, patience_ms?: number): Permit | Promise<Permit> {
    return this.#line(wish).take(wish.costs, signal, patience_ms);
  }

  /** For the one call that tests an upstream, when its permit is too old. */
  testAgain(wish: Wish): Promise<Permit> {
    return this.#line(wish).testAgain(wish.costs);
  }

  #line(wish: Wish): Line {
    const names = wish.budgets.map((b) => b.budget);
    const key = `${wish.upstream}\u0000${wish.share}\u0000${names.join("\u0000")}`;
    const known = this.#lines.get(key);
    if (known) return known.line;
    if (this.#lines.size >= LINES_MOST) for (const [k, { line }] of this.#lines) if (line.idle) this.#lines.delete(k);
    const line = new Line(this.#parts, wish);
    this.#lines.set(key, { line, upstream: wish.upstream, budgets: new Set(names) });
    return line;
  }

  /** Gives back what a permit allowed and was not used; fewer than none for what it cost beyond. */
  async settle(permit: Permit, units: number[]): Promise<void> {
    if (units.every((n) => n === 0)) return;
    const { budgets, share } = permit.wish;
    const age_ms = this.#parts.clock.elapsed_ms() - permit.asked_ms;
    await giveBack(this.#parts.db, share, { budgets: budgets.map((b) => b.budget), units, nos: permit.nos, age_ms });
  }

  /** What was drawn of this budget, or of all of this upstream's, or of everything, is not spent any more. */
  void(name: string | null): void {
    for (const { line, upstream, budgets } of this.#lines.values())
      if (name === null || upstream === name || budgets.has(name)) line.void();
  }

  async close(): Promise<void> {
    await Promise.all([...this.#lines.values()].map(({ line }) => line.close()));
  }
}
