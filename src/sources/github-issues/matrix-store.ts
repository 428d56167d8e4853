/** All vectors of a generation in one block of memory, and the nearest of them to another: every one is looked at, so none is missed. */
import { normOf } from "./vector-code.ts";

/** Rows that are kept at most: of 384 numbers each, a million are 400 MB. */
export const ROWS_MOST = 1_000_000;

/** One passage of an issue. */
export interface MatrixRow {
  resource_id: bigint;
  number: number;
  part: number;
  /** Null where it has no vector any more. */
  code: Uint8Array | null;
}

export interface Near {
  resource_id: bigint;
  number: number;
  similarity: number;
}

const nameOf = (resource_id: bigint, number: number): string => `${resource_id} ${number}`;

export class MatrixStore {
  readonly #dimensions: number;
  #codes: Int8Array;
  #norms: Float32Array;
  #capacity = 1_024;
  #count = 0;
  /** Which issue a row is of. */
  #issueOf: Int32Array;
  readonly #issues: { resource_id: bigint; number: number }[] = [];
  readonly #issueNo = new Map<string, number>();
  readonly #rowOf = new Map<string, number>();
  readonly #free: number[] = [];

  constructor(dimensions: number) {
    this.#dimensions = dimensions;
    this.#codes = new Int8Array(this.#capacity * dimensions);
    this.#norms = new Float32Array(this.#capacity);
    this.#issueOf = new Int32Array(this.#capacity).fill(-1);
  }

  get rows(): number {
    return this.#rowOf.size;
  }

  put(rows: MatrixRow[]): void {
    for (const { resource_id, number, part, code } of rows) {
      const issue = nameOf(resource_id, number);
      const name = `${issue} ${part}`;
      let at = this.#rowOf.get(name);
      if (code === null || code.length !== this.#dimensions) {
        if (at === undefined) continue;
        this.#rowOf.delete(name);
        this.#issueOf[at] = -1;
        this.#free.push(at);
        continue;
      }
      if (at === undefined) {
        if (this.#rowOf.size >= ROWS_MOST) continue;
        at = this.#free.pop() ?? this.#grown();
        this.#rowOf.set(name, at);
      }
      const mine = new Int8Array(code.buffer, code.byteOffset, code.length);
      this.#codes.set(mine, at * this.#dimensions);
      this.#norms[at] = normOf(mine);
      this.#issueOf[at] = this.#number(issue, resource_id, number);
    }
  }

  #number(name: string, resource_id: bigint, number: number): number {
    const known = this.#issueNo.get(name);
    if (known !== undefined) return known;
    const no = this.#issues.push({ resource_id, number }) - 1;
    this.#issueNo.set(name, no);
    return no;
  }

  #grown(): number {
    if (this.#count === this.#capacity) {
      this.#capacity *= 2;
      const codes = new Int8Array(this.#capacity * this.#dimensions);
      codes.set(this.#codes);
      const norms = new Float32Array(this.#capacity);
      norms.set(this.#norms);
      const issueOf = new Int32Array(this.#capacity).fill(-1);
      issueOf.set(this.#issueOf);
      this.#codes = codes;
      this.#norms = norms;
      this.#issueOf = issueOf;
    }
    return this.#count++;
  }

  /** The nearest issues, by the nearest of their passages; only among `allowed`, where that is given. */
  nearest(vector: Float32Array, most: number, allowed: { resource_id: bigint; number: number }[] | null): Near[] {
    const best = new Float32Array(this.#issues.length).fill(-2);
    const only = allowed && this.#only(allowed);
    const d = this.#dimensions;
    const codes = this.#codes;
    for (let row = 0; row < this.#count; row += 1) {
      const issue = this.#issueOf[row]!;
      if (issue < 0 || (only && only[issue] === 0)) continue;
      let a = 0;
      let b = 0;
      let at = row * d;
      const end = d - (d % 4);
      for (let i = 0; i < end; i += 4, at += 4) {
        a += vector[i]! * codes[at]! + vector[i + 1]! * codes[at + 1]!;
        b += vector[i + 2]! * codes[at + 2]! + vector[i + 3]! * codes[at + 3]!;
      }
      for (let i = end; i < d; i += 1, at += 1) a += vector[i]! * codes[at]!;
      const similarity = (a + b) / this.#norms[row]!;
      if (similarity > best[issue]!) best[issue] = similarity;
    }
    return this.#top(best, most);
  }

  #only(allowed: { resource_id: bigint; number: number }[]): Uint8Array {
    const only = new Uint8Array(this.#issues.length);
    for (const { resource_id, number } of allowed) {
      const issue = this.#issueNo.get(nameOf(resource_id, number));
      if (issue !== undefined) only[issue] = 1;
    }
    return only;
  }

  /** Those above a bar that is raised until few enough are left to be sorted. */
  #top(best: Float32Array, most: number): Near[] {
    const counts = new Uint32Array(2_001);
    for (const one of best) if (one >= -1) counts[Math.min(2_000, Math.floor((one + 1) * 1_000))]! += 1;
    let bar = 2_000;
    for (let left = most; bar > 0 && left > counts[bar]!; bar -= 1) left -= counts[bar]!;
    const least = bar / 1_000 - 1;
    const near: Near[] = [];
    for (let issue = 0; issue < best.length; issue += 1)
      if (best[issue]! >= least && best[issue]! >= -1) near.push({ ...this.#issues[issue]!, similarity: best[issue]! });
    return near.sort((x, y) => y.similarity - x.similarity).slice(0, most);
  }
}
