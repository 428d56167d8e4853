/** Random numbers that a seed repeats exactly. */

export interface Random {
  /** A number in [0, 1). */
  next(): number;
  /** True with this probability. */
  chance(probability: number): boolean;
  /** A whole number from `least` to `most`. */
  between(least: number, most: number): number;
}

export function seeded(seed: number): Random {
  let state = (seed * 0x9e3779b9) >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    next,
    chance: (probability) => next() < probability,
    between: (least, most) => least + Math.floor(next() * (most - least + 1)),
  };
}
