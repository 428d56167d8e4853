/** domain64 gives the document's own numbers, and loses nothing at any edge of any range. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decode, encode, partitionOf, rangeOf } from "./domain64.ts";

const gsa = { tld: 1, domain: 1, subdomain: 0 };

describe("a number of domain64", () => {
  it("C19: is the one that the document has", () => {
    expect(encode(gsa)).toBe(72057598332895232n);
    expect(encode({ ...gsa, subdomain: 1 })).toBe(72057598332895488n);
    expect(encode({ ...gsa, subdomain: 2 })).toBe(72057598332895744n);
  });

  it("C19: comes back as it went, also above the top-level domain 127, where it is negative", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 255 }),
        fc.integer({ min: 0, max: 0xffffff }),
        fc.integer({ min: 0, max: 0xffffff }),
        (tld, domain, subdomain) => {
          const number = encode({ tld, domain, subdomain });
          expect(decode(number)).toEqual({ tld, domain, subdomain });
          expect(number < 0n).toBe(tld >= 128);
          expect(BigInt.asIntN(64, number)).toBe(number);
        },
      ),
    );
  });

  it.each([
    ["a top-level domain beyond 255", { ...gsa, tld: 256 }],
    ["no top-level domain", { ...gsa, tld: 0 }],
    ["a domain beyond 24 bits", { ...gsa, domain: 0x1000000 }],
    ["a subdomain beyond 24 bits", { ...gsa, subdomain: 0x1000000 }],
  ])("C19: is refused for %s", (_, numbers) => {
    expect(() => encode(numbers)).toThrow(RangeError);
  });
});

describe("a range", () => {
  it("C19: holds its last number and not the next, where the document's own bound lost one", () => {
    const { from, until } = rangeOf({ tld: 1, domain: 1 });
    expect([from, until]).toEqual([72057598332895232n, 72057602627862528n]);
    expect(rangeOf({ tld: 1, domain: 1, subdomain: 1 })).toEqual({
      from: 72057598332895488n,
      until: 72057598332895744n,
    });
  });

  it("C19: has no end at the top-level domain 127, and ends at zero at 255", () => {
    expect(rangeOf({ tld: 127 })).toEqual({ from: 127n << 56n, until: null });
    expect(rangeOf({ tld: 255 })).toEqual({ from: -(1n << 56n), until: 0n });
    expect(rangeOf({ tld: 128 }).from).toBe(-(1n << 63n));
  });
});

describe("a partition", () => {
  it("is a domain's own for the first 128, and a block's beyond", () => {
    expect(partitionOf(1, 128).name).toBe("search_1_128");
    expect(partitionOf(1, 129).name).toBe("search_1_from_129");
    expect(partitionOf(1, 1023).name).toBe("search_1_from_129");
    expect(partitionOf(1, 1024).name).toBe("search_1_from_1024");
  });

  it("holds all of its domains, touches its neighbours and overlaps none", () => {
    const bounds = (tld: number, domain: number) => {
      const { from, until } = partitionOf(tld, domain);
      return { from, until: until ?? 1n << 63n };
    };
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 255 }), fc.integer({ min: 1, max: 0xffffff }), (tld, domain) => {
        const { from, until } = bounds(tld, domain);
        const first = encode({ tld, domain, subdomain: 0 });
        const last = encode({ tld, domain, subdomain: 0xffffff }) + 255n;
        expect(from <= first && last < until).toBe(true);
        if (domain < 0xffffff) {
          const next = bounds(tld, domain + 1);
          expect(next.from === from || next.from === until).toBe(true);
        }
      }),
    );
  });
});
