/** A model that needs no weights: texts with the same words, or nearly the same, get vectors that point the same way. */
import { createHash } from "node:crypto";

export const DIMENSIONS = 128;

/** Words that mean much the same to everybody, so that there is something to find that is said otherwise. */
const ALIKE: Record<string, string> = {
  crashes: "crash",
  crashed: "crash",
  dies: "crash",
  hangs: "freeze",
  frozen: "freeze",
  unresponsive: "freeze",
  slow: "slow",
  sluggish: "slow",
  lag: "slow",
  dark: "theme",
  black: "theme",
};

function add(vector: Float64Array, feature: string, weight: number): void {
  const digest = createHash("md5").update(feature).digest();
  for (let i = 0; i < 4; i += 1) {
    const at = digest.readUInt16LE(2 * i) % vector.length;
    vector[at]! += digest[8 + i]! % 2 === 0 ? weight : -weight;
  }
}

/** The same for the same text and model, for ever. */
export function hashed(text: string, model = "hashing", dimensions = DIMENSIONS): number[] {
  const vector = new Float64Array(dimensions);
  for (const [word] of text.toLowerCase().matchAll(/[\p{L}\p{N}]+/gu)) {
    const known = ALIKE[word] ?? word;
    add(vector, `${model} ${known}`, 1);
    if (known.length > 4) add(vector, `${model} ${known.slice(0, 4)}`, 0.5);
  }
  const norm = Math.hypot(...vector) || 1;
  return Array.from(vector, (x) => x / norm);
}
