/** Judges an address: of the open Internet, or special, and then what it is for. */
import { isIP } from "node:net";
import ipaddr from "ipaddr.js";
import { GLOBAL_UNICAST, MAPPED, NAT64, special_ipv4, special_ipv6 } from "./ranges.ts";

type Parsed = ipaddr.IPv4 | ipaddr.IPv6;
type Range = [Parsed, number];

const ranges = (table: readonly (readonly [string, string])[]): [Range, string][] =>
  table.map(([range, what]) => [ipaddr.parseCIDR(range), what]);

const ipv4 = ranges(special_ipv4);
const ipv6 = ranges(special_ipv6);
const global_unicast = ipaddr.parseCIDR(GLOBAL_UNICAST);
const mapped = ipaddr.parseCIDR(MAPPED);
const nat64 = ipaddr.parseCIDR(NAT64);

const within = (address: Parsed, [network, bits]: Range): boolean =>
  address.kind() === network.kind() && address.match([network, bits]);

/**
 * The address in one spelling, without a zone; null for what is none. Only the spellings that the kernel takes are read:
 * a resolver that answers "0177.0.0.1" or "1" is not to be guessed at.
 */
export function parseAddress(text: string): Parsed | null {
  return isIP(text) === 0 ? null : ipaddr.parse(text.split("%")[0]!);
}

/** The same address in its shortest spelling, IPv4 where IPv6 only wraps it; null for what is none. */
export function plainAddress(text: string): string | null {
  const parsed = parseAddress(text);
  return parsed && unwrapped(parsed).toString();
}

/** What a special address is for; null for one of the open Internet. */
export function specialUse(text: string): string | null {
  const parsed = parseAddress(text);
  return parsed ? useOf(unwrapped(parsed)) : "not an address";
}

function useOf(address: Parsed): string | null {
  if (address.kind() === "ipv4") return ipv4.find(([range]) => within(address, range))?.[1] ?? null;
  if (within(address, nat64)) {
    const carried = useOf(lastFourBytes(address));
    return carried && `${carried}, through NAT64`;
  }
  const listed = ipv6.find(([range]) => within(address, range))?.[1];
  if (listed) return listed;
  if (!within(address, global_unicast)) return "not given out";
  return isIsatap(address) ? "an ISATAP tunnel" : null;
}

const unwrapped = (address: Parsed): Parsed => (within(address, mapped) ? lastFourBytes(address) : address);

const lastFourBytes = (address: Parsed): ipaddr.IPv4 => new ipaddr.IPv4(address.toByteArray().slice(12));

/** RFC 5214: the interface is 00-00-5E-FE or 02-00-5E-FE and then an IPv4 address, behind whatever prefix. */
function isIsatap(address: Parsed): boolean {
  const [a, b, c, d] = address.toByteArray().slice(8);
  return (a! & 0xfd) === 0 && b === 0 && c === 0x5e && d === 0xfe;
}

/** Says which addresses are in the list of addresses and CIDRs; a range of IPv4 holds the mapped form too. */
export function readAllowance(list: readonly string[]): (address: string) => boolean {
  const allowed = list.map((text): Range => {
    const [network, bits] = text.includes("/") ? ipaddr.parseCIDR(text) : wholeAddress(text);
    // ::ffff:10.0.0.0/104 means 10.0.0.0/8: what is compared with it is unwrapped too.
    return within(network, mapped) && bits >= 96 ? [lastFourBytes(network), bits - 96] : [network, bits];
  });
  return (text) => {
    const parsed = parseAddress(text);
    return parsed !== null && allowed.some((range) => within(unwrapped(parsed), range));
  };
}

function wholeAddress(text: string): Range {
  const parsed = ipaddr.parse(text);
  return [parsed, parsed.kind() === "ipv4" ? 32 : 128];
}
