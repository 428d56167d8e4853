/** The addresses that are not the open Internet, from the special-purpose registries of IANA for IPv4 and IPv6. */

/** What each range is for; where one lies in another, the narrower comes first. */
export const special_ipv4: readonly (readonly [range: string, what: string])[] = [
  ["0.0.0.0/8", "this host on this network"],
  ["10.0.0.0/8", "private"],
  ["100.64.0.0/10", "shared with a carrier's NAT"],
  ["127.0.0.0/8", "loopback"],
  ["168.63.129.16/32", "a metadata service"],
  ["169.254.169.254/32", "a metadata service"],
  ["169.254.0.0/16", "link-local"],
  ["172.16.0.0/12", "private"],
  ["192.0.0.0/24", "for protocols"],
  ["192.0.2.0/24", "documentation"],
  ["192.31.196.0/24", "for AS112 name servers"],
  ["192.52.193.0/24", "for multicast tunnels"],
  ["192.88.99.0/24", "for 6to4 relays"],
  ["192.168.0.0/16", "private"],
  ["192.175.48.0/24", "for AS112 name servers"],
  ["198.18.0.0/15", "benchmarking"],
  ["198.51.100.0/24", "documentation"],
  ["203.0.113.0/24", "documentation"],
  ["224.0.0.0/4", "multicast"],
  ["255.255.255.255/32", "broadcast"],
  ["240.0.0.0/4", "reserved"],
];

/** Only 2000::/3 is given out for the Internet: what lies outside is special even where no line names it. */
export const special_ipv6: readonly (readonly [range: string, what: string])[] = [
  ["::/128", "unspecified"],
  ["::1/128", "loopback"],
  ["::/96", "IPv4-compatible"],
  ["::ffff:0:0:0/96", "IPv4-translated"],
  ["64:ff9b:1::/48", "a local NAT64"],
  ["100::/63", "discarded"],
  ["2001::/32", "a Teredo tunnel"],
  ["2001:2::/48", "benchmarking"],
  ["2001::/23", "for protocols"],
  ["2001:db8::/32", "documentation"],
  ["2002::/16", "a 6to4 tunnel"],
  ["2620:4f:8000::/48", "for AS112 name servers"],
  ["3fff::/20", "documentation"],
  ["5f00::/16", "for segment routing"],
  ["fd00:ec2::254/128", "a metadata service"],
  ["fd20:ce::254/128", "a metadata service"],
  ["fc00::/7", "unique local"],
  ["fe80::/10", "link-local"],
  ["fec0::/10", "site-local"],
  ["ff00::/8", "multicast"],
];

export const GLOBAL_UNICAST = "2000::/3";
/** IPv4 seen as IPv6: the kernel connects to the IPv4 address itself. */
export const MAPPED = "::ffff:0:0/96";
/** IPv4 through a translator; with DNS64 every host that has IPv4 alone is found here, so it is judged by what it carries. */
export const NAT64 = "64:ff9b::/96";
