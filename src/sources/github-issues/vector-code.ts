/** Vectors in whole numbers: a fourth of the size, and near enough to find the best, which are then compared exactly. */

const MOST = 127;

/** Each number in 127ths of the largest. Of a direction only, which is all that a cosine asks for. */
export function codeOf(vector: Float32Array): Uint8Array {
  let largest = 0;
  for (const x of vector) largest = Math.max(largest, Math.abs(x));
  const code = new Int8Array(vector.length);
  for (let i = 0; i < vector.length; i += 1) code[i] = Math.round((vector[i]! / (largest || 1)) * MOST);
  return new Uint8Array(code.buffer);
}

/** The length of what is coded, which the product with it is divided by. */
export function normOf(code: Int8Array): number {
  let square = 0;
  for (const x of code) square += x * x;
  return Math.sqrt(square) || 1;
}
