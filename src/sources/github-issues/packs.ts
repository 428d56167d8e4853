/** Puts texts together for calls: as many in each as the server takes, and none together that spend another share. */
import type { Wanted } from "./passage-rows.ts";
import type { RequestLimits, Share } from "./provider.ts";

export interface Pack {
  share: Share;
  wanted: Wanted[];
}

/** A call for a repository whose past is still being read is worth making when it is nearly full: more is on its way. */
const FULL = 0.7;

/**
 * Packs in the order of what is wanted. Texts of repositories that are read for the first time spend the share of initialisation, all others another.
 * `all` is whether these are all that there are: then what is not full waits only for repositories that bring more.
 */
export function packed(wanted: Wanted[], limits: RequestLimits, all: boolean): Pack[] {
  const packs: Pack[] = [];
  for (const share of ["other", "init"] as const) {
    const mine = wanted.filter(({ initialised }) => initialised === (share === "other"));
    const made = filled(mine, limits).map((list) => ({ share, wanted: list }));
    const last = made.at(-1);
    if (share === "init" && all && last && !isFull(last.wanted, limits)) made.pop();
    packs.push(...made);
  }
  return packs;
}

const tokensIn = (list: Wanted[]): number => list.reduce((sum, { tokens }) => sum + tokens, 0);

const isFull = (list: Wanted[], { inputs_most, tokens_most }: RequestLimits): boolean =>
  list.length >= FULL * inputs_most || tokensIn(list) >= FULL * tokens_most;

function filled(list: Wanted[], { inputs_most, tokens_most }: RequestLimits): Wanted[][] {
  const packs: Wanted[][] = [];
  let tokens = 0;
  for (const one of list) {
    const pack = packs.at(-1);
    if (!pack || pack.length >= inputs_most || tokens + one.tokens > tokens_most) {
      packs.push([one]);
      tokens = one.tokens;
    } else {
      pack.push(one);
      tokens += one.tokens;
    }
  }
  return packs;
}
