/** domain64: the top-level domain, domain and subdomain of a host in one 64-bit number, as FF:FFFFFF:FFFFFF:FF. */

export interface Numbers {
  tld: number;
  domain: number;
  subdomain: number;
}

/** The last eight bits are reserved. */
const RESERVED_BITS = 8n;
const SUBDOMAIN_AT = RESERVED_BITS;
const DOMAIN_AT = SUBDOMAIN_AT + 24n;
const TLD_AT = DOMAIN_AT + 24n;

export const TLD_MOST = 0xff;
export const NUMBER_MOST = 0xffffff;
/** So many domains of a top-level domain have a partition each; those beyond share one by blocks of numbers. */
export const ALONE_MOST = 128;
const BLOCK_BITS = 10;

const within = (value: number, least: number, most: number, what: string): bigint => {
  if (!Number.isInteger(value) || value < least || value > most)
    throw new RangeError(`The number of a ${what} is from ${least} to ${most}, not ${value}.`);
  return BigInt(value);
};

const unsigned = ({ tld, domain, subdomain }: Numbers): bigint =>
  (within(tld, 1, TLD_MOST, "top-level domain") << TLD_AT) |
  (within(domain, 0, NUMBER_MOST, "domain") << DOMAIN_AT) |
  (within(subdomain, 0, NUMBER_MOST, "subdomain") << SUBDOMAIN_AT);

/** As PostgreSQL's bigint holds it: from the top-level domain 128 on it is below zero. */
export const encode = (numbers: Numbers): bigint => BigInt.asIntN(64, unsigned(numbers));

export function decode(domain64: bigint): Numbers {
  const bits = BigInt.asUintN(64, domain64);
  return {
    tld: Number(bits >> TLD_AT),
    domain: Number((bits >> DOMAIN_AT) & BigInt(NUMBER_MOST)),
    subdomain: Number((bits >> SUBDOMAIN_AT) & BigInt(NUMBER_MOST)),
  };
}

/** Numbers from `from` to before `until`; no end where that would be beyond what a bigint holds. */
export interface Range {
  from: bigint;
  until: bigint | null;
}

const FIRST_BEYOND = 1n << 63n;

function range(first: bigint, beyond: bigint): Range {
  const from = BigInt.asIntN(64, first);
  // The end of the number 127 is the largest there is; that of 255 is zero, and lies above its beginning all the same.
  return { from, until: beyond === FIRST_BEYOND ? null : BigInt.asIntN(64, beyond) };
}

/** Everything under a top-level domain, a domain or a subdomain: as much of it as is named. */
export function rangeOf({ tld, domain, subdomain }: { tld: number; domain?: number; subdomain?: number }): Range {
  const first = unsigned({ tld, domain: domain ?? 0, subdomain: subdomain ?? 0 });
  const width = domain === undefined ? TLD_AT : subdomain === undefined ? DOMAIN_AT : SUBDOMAIN_AT;
  return range(first, first + (1n << width));
}

/** The partition that a domain's pages are in. */
export function partitionOf(tld: number, domain: number): Range & { name: string } {
  if (domain <= ALONE_MOST) return { name: `search_${tld}_${domain}`, ...rangeOf({ tld, domain }) };
  const block = domain >> BLOCK_BITS;
  const first = Math.max(ALONE_MOST + 1, block << BLOCK_BITS);
  const beyond = BigInt((block + 1) << BLOCK_BITS);
  const start = unsigned({ tld, domain: first, subdomain: 0 });
  const end = (BigInt(tld) << TLD_AT) + (beyond << DOMAIN_AT);
  return { name: `search_${tld}_from_${first}`, ...range(start, end) };
}
