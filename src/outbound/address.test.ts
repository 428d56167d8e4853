/** Every range that is not the open Internet is told from it, at its edges and in every wrapping. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { plainAddress, readAllowance, specialUse } from "./address.ts";

const special: [address: string, use: string][] = [
  ["0.0.0.0", "this host on this network"],
  ["0.255.255.255", "this host on this network"],
  ["10.0.0.0", "private"],
  ["10.255.255.255", "private"],
  ["100.64.0.0", "shared with a carrier's NAT"],
  ["100.127.255.255", "shared with a carrier's NAT"],
  ["100.100.100.200", "shared with a carrier's NAT"],
  ["127.0.0.1", "loopback"],
  ["127.255.255.255", "loopback"],
  ["168.63.129.16", "a metadata service"],
  ["169.254.0.0", "link-local"],
  ["169.254.169.254", "a metadata service"],
  ["169.254.170.2", "link-local"],
  ["172.16.0.0", "private"],
  ["172.31.255.255", "private"],
  ["192.0.0.192", "for protocols"],
  ["192.0.2.1", "documentation"],
  ["192.31.196.1", "for AS112 name servers"],
  ["192.52.193.1", "for multicast tunnels"],
  ["192.88.99.1", "for 6to4 relays"],
  ["192.168.0.0", "private"],
  ["192.168.255.255", "private"],
  ["192.175.48.1", "for AS112 name servers"],
  ["198.18.0.0", "benchmarking"],
  ["198.19.255.255", "benchmarking"],
  ["198.51.100.255", "documentation"],
  ["203.0.113.0", "documentation"],
  ["224.0.0.1", "multicast"],
  ["239.255.255.255", "multicast"],
  ["240.0.0.0", "reserved"],
  ["255.255.255.254", "reserved"],
  ["255.255.255.255", "broadcast"],
  ["::", "unspecified"],
  ["::1", "loopback"],
  ["0:0:0:0:0:0:0:1", "loopback"],
  ["::127.0.0.1", "IPv4-compatible"],
  ["::8.8.8.8", "IPv4-compatible"],
  ["::ffff:127.0.0.1", "loopback"],
  ["::ffff:7f00:1", "loopback"],
  ["0:0:0:0:0:FFFF:A00:1", "private"],
  ["::ffff:169.254.169.254", "a metadata service"],
  ["::ffff:0:127.0.0.1", "IPv4-translated"],
  ["::ffff:0:8.8.8.8", "IPv4-translated"],
  ["64:ff9b::127.0.0.1", "loopback, through NAT64"],
  ["64:ff9b::a9fe:a9fe", "a metadata service, through NAT64"],
  ["64:ff9b::10.0.0.1", "private, through NAT64"],
  ["64:ff9b:1::8.8.8.8", "a local NAT64"],
  ["100::1", "discarded"],
  ["100:0:0:1::1", "discarded"],
  ["2001::1", "a Teredo tunnel"],
  ["2001:0:53aa:64c::1", "a Teredo tunnel"],
  ["2001:2::1", "benchmarking"],
  ["2001:10::1", "for protocols"],
  ["2001:1ff:ffff::1", "for protocols"],
  ["2001:db8::1", "documentation"],
  ["2002:7f00:1::1", "a 6to4 tunnel"],
  ["2002:808:808::1", "a 6to4 tunnel"],
  ["2620:4f:8000::1", "for AS112 name servers"],
  ["3fff:fff::1", "documentation"],
  ["5f00::1", "for segment routing"],
  ["4000::1", "not given out"],
  ["1fff::1", "not given out"],
  ["fc00::1", "unique local"],
  ["fd12:3456::1", "unique local"],
  ["fd00:ec2::254", "a metadata service"],
  ["fe80::1", "link-local"],
  ["fe80::1%eth0", "link-local"],
  ["febf::1", "link-local"],
  ["fec0::1", "site-local"],
  ["ff02::1", "multicast"],
  ["2a00:1450:4001:80e:0:5efe:7f00:1", "an ISATAP tunnel"],
  ["2a00:1450:4001:80e:200:5efe:a00:1", "an ISATAP tunnel"],
  // No spelling that only some programs read.
  ["0177.0.0.1", "not an address"],
  ["127.1", "not an address"],
  ["2130706433", "not an address"],
  ["[::1]", "not an address"],
  ["", "not an address"],
];

describe("what is special", () => {
  it.each(special)("%s is %s", (address, use) => {
    expect(specialUse(address)).toBe(use);
  });

  it.each([
    "1.1.1.1",
    "9.255.255.255",
    "11.0.0.0",
    "100.63.255.255",
    "100.128.0.0",
    "126.255.255.255",
    "128.0.0.0",
    "169.253.255.255",
    "169.255.0.0",
    "172.15.255.255",
    "172.32.0.0",
    "192.167.255.255",
    "192.169.0.0",
    "198.17.255.255",
    "198.20.0.0",
    "223.255.255.255",
    "140.82.121.4",
    "2606:4700:4700::1111",
    "2001:200::1",
    "2001:4860:4860::8888",
    "2a00:1450:4001:80e::200e",
    "::ffff:8.8.8.8",
    "64:ff9b::8.8.8.8",
  ])("%s is the open Internet", (address) => {
    expect(specialUse(address)).toBeNull();
  });

  it("is the same for an IPv4 address and for the same wrapped in IPv6", () => {
    fc.assert(
      fc.property(fc.ipV4(), (address) => {
        expect(specialUse(`::ffff:${address}`)).toBe(specialUse(address));
        expect(plainAddress(`::ffff:${address}`)).toBe(address);
        expect(specialUse(`64:ff9b::${address}`) === null).toBe(specialUse(address) === null);
      }),
    );
  });

  it("is decided for every IPv6 address by whether it lies in 2000::/3, at least", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(0xffff), { minLength: 8, maxLength: 8 }), (groups) => {
        const address = groups.map((group) => group.toString(16)).join(":");
        if (groups[0]! >> 13 !== 1) expect(specialUse(address)).not.toBeNull();
      }),
    );
  });
});

describe("what is allowed all the same", () => {
  const allows = readAllowance(["127.0.0.1", "10.0.0.0/8", "::1", "fd00::/8", "::ffff:192.168.0.0/112"]);

  it.each([
    "127.0.0.1",
    "::ffff:127.0.0.1",
    "::ffff:7f00:1",
    "10.1.2.3",
    "::ffff:10.1.2.3",
    "::1",
    "fd12::1",
    "fd12::1%eth0",
  ])("%s is listed", (address) => {
    expect(allows(address)).toBe(true);
  });

  it("lists IPv4 through its mapped form", () => {
    expect([allows("192.168.3.4"), allows("::ffff:192.168.3.4"), allows("192.169.0.0")]).toEqual([true, true, false]);
  });

  it.each([
    "127.0.0.2",
    "11.0.0.0",
    "::2",
    "::127.0.0.1",
    "64:ff9b::10.0.0.1",
    "2002:a00:1::1",
    "fe80::1",
    "8.8.8.8",
    "nonsense",
    "",
  ])("%s is not", (address) => {
    expect(allows(address)).toBe(false);
  });

  it("is nothing without a list, and everything with 0.0.0.0/0 and ::/0", () => {
    expect(readAllowance([])("127.0.0.1")).toBe(false);
    const all = readAllowance(["0.0.0.0/0", "::/0"]);
    expect(["127.0.0.1", "::1", "::ffff:10.0.0.1", "fe80::1"].map(all)).toEqual([true, true, true, true]);
  });
});
