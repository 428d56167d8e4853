/** What keys are made of, and when each repository has its moment. */

/** "github.com/R_kgDO…" as its parts; ids tell capitals apart and have no slash that matters. */
export function readKey(key: string): { host: string; id: string } {
  const slash = key.indexOf("/");
  return { host: key.slice(0, slash), id: key.slice(slash + 1) };
}

export const keyOf = (host: string, id: string): string => `${host}/${id}`;

/** Which period of its own a repository is in: each has its moment of the day, so that they are not all listed at once. */
export function periodNo(id: string, now_ms: number, period_ms: number): bigint {
  let hash = 0;
  for (let i = 0; i < id.length; i += 1) hash = Math.imul(hash, 31) + id.charCodeAt(i);
  // Ids of one day differ in their last letter only: mixed, or all of them would have one moment.
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return BigInt(Math.floor(now_ms / period_ms + ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32));
}
