/** What one call takes from which budgets, purely: by what its upstream declares and the call says. */
import type { Budget, FetchRequest, Upstream } from "../contract.ts";
import { TidemarkError } from "../errors.ts";
import type { Wish } from "./grant-permit.ts";
import { accountRow, type BudgetRow, budgetRow, flightsRow } from "./share.ts";

/** A wish, with the name that the upstream gives to each of its budgets; null for those that have none. */
export interface NamedWish extends Wish {
  names: (string | null)[];
  /** Budgets that belong to one host or group, which alone is closed when it asks us to wait. */
  narrow: string[];
}

/** Rows are the same objects each time, so that no call pays for making them. */
const rows = new WeakMap<object, Map<string, BudgetRow>>();

function remembered(of: object, key: string, make: () => BudgetRow): BudgetRow {
  const known = rows.get(of) ?? new Map<string, BudgetRow>();
  rows.set(of, known);
  const row = known.get(key) ?? make();
  if (known.size > 10_000) known.clear();
  known.set(key, row);
  return row;
}

/** `address` is where the target was found; a host that was not found is its own. */
export function wishOf(
  upstream: Upstream,
  target: URL,
  request: FetchRequest,
  account: string | null,
  address: string | null = null,
): NamedWish {
  const share = request.share ?? "";
  if (share !== "" && !(share in (upstream.shares ?? {})))
    throw new TidemarkError("InputInvalid", `${upstream.name} declares no share "${share}".`);
  const taken = budgetsOf(upstream, request).map(({ name, budget, cost }) => {
    const key = keyOf(budget, target, request, account, address);
    const row = remembered(budget, `${upstream.name}\u0000${key}`, () => budgetRow(upstream, name, budget, key));
    return { row, cost: row.shape === "gap" ? 1 : cost, name, narrow: isNarrow(budget) };
  });
  const more: BudgetRow[] = [];
  if (account !== null) more.push(remembered(upstream, `@${account}`, () => accountRow(upstream, account)));
  return {
    upstream: upstream.name,
    share,
    budgets: [...taken.map((t) => t.row), ...more],
    costs: [...taken.map((t) => t.cost), ...more.map(() => 1)],
    names: [...taken.map((t) => t.name), ...more.map(() => null)],
    narrow: taken.filter((t) => t.narrow).map((t) => t.row.budget),
  };
}

/** The bound on calls at once, where there is one: a place under it is not spent, and is taken apart from budgets. */
export function flightsOf(upstream: Upstream): BudgetRow | null {
  const { concurrency } = upstream;
  return concurrency === undefined ? null : remembered(upstream, "at once", () => flightsRow(upstream, concurrency));
}

/** The part of a wish that is spent, without the one call that a gap lets out. */
export function spentOnly(wish: NamedWish): NamedWish {
  const spent = wish.budgets.map(({ shape }) => shape !== "gap");
  const { budgets, costs, names } = wish;
  const part = <T>(all: T[]): T[] => all.filter((_, k) => spent[k]);
  return { ...wish, budgets: part(budgets), costs: part(costs), names: part(names) };
}

interface Chosen {
  name: string;
  budget: Budget;
  cost: number;
}

function budgetsOf(upstream: Upstream, request: FetchRequest): Chosen[] {
  const cost = request.cost ?? 1;
  const declared = new Map(Object.entries(upstream.budgets ?? {}));
  if (upstream.budget) declared.set("", upstream.budget);
  const wanted = request.budgets ?? [...declared.keys()].map((budget) => ({ budget, cost }));
  return wanted.map((one) => {
    const budget = declared.get(one.budget);
    if (!budget) throw new TidemarkError("InputInvalid", `${upstream.name} declares no budget "${one.budget}".`);
    const units = one.cost ?? cost;
    if (!(units >= 0 && Number.isFinite(units)))
      throw new TidemarkError("InputInvalid", `A call to ${upstream.name} cannot cost ${units}.`);
    return { name: one.budget, budget, cost: units };
  });
}

/** It belongs to one server among many, and says nothing of the others. */
export const isNarrow = ({ by }: Budget): boolean => by === "host" || by === "group" || by === "address";

function keyOf(
  budget: Budget,
  target: URL,
  request: FetchRequest,
  account: string | null,
  address: string | null,
): string | null {
  switch (budget.by ?? "upstream") {
    case "upstream":
      return null;
    case "credential":
      return account ?? "nobody";
    case "host":
      return target.host;
    case "group":
      return request.group ?? target.host;
    case "address":
      return address ?? target.hostname;
  }
}
