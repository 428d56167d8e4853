/** Judges an address: of the open Internet, or special, and then what it is for. */
import { isIP } from "node:net";
import { GLOBAL_UNICAST, MAPPED, NAT64, special_ipv4, special_ipv6 } from "./ranges.ts";

/** Four bytes or sixteen. */
type Bytes = readonly number[];
interface Range {
  network: Bytes;
  bits: number;
}

/**
 * The bytes of an address, zone left out; null for what is none. Only the spellings that the kernel takes are read: a resolver
 * that answers "0177.0.0.1" is not to be guessed at. IPv6 is first brought into one form by Node's own parser of URLs, the one
 * that targets are read with, so that no two parsers can disagree: ipaddr.js takes ::127.0.0.1 for ::ffff:127.0.0.1.
 */
function bytesOf(text: string): Bytes | null {
  const [address] = text.split("%");
  if (isIP(text) === 4) return text.split(".").map(Number);
  if (isIP(text) !== 6) return null;
  const [left = "", right] = new URL(`http://[${address}]`).hostname.slice(1, -1).split("::");
  const groups = (part: string) => (part === "" ? [] : part.split(":").map((group) => Number.parseInt(group, 16)));
  const [before, after] = [groups(left), groups(right ?? "")];
  const zeros = new Array<number>(8 - before.length - after.length).fill(0);
  return [...before, ...zeros, ...after].flatMap((group) => [group >> 8, group & 0xff]);
}

function rangeOf(text: string): Range {
  const [address = "", bits] = text.split("/");
  const network = bytesOf(address);
  if (!network) throw new Error(`${text} is not a range of addresses`);
  return { network, bits: bits === undefined ? network.length * 8 : Number(bits) };
}

function within(address: Bytes, { network, bits }: Range): boolean {
  if (address.length !== network.length) return false;
  return network.every((byte, at) => {
    const compared = Math.min(8, Math.max(0, bits - at * 8));
    return (byte ^ address[at]!) >> (8 - compared) === 0;
  });
}

const tableOf = (table: readonly (readonly [string, string])[]) =>
  table.map(([range, what]) => ({ range: rangeOf(range), what }));
const ipv4 = tableOf(special_ipv4);
const ipv6 = tableOf(special_ipv6);
const [global_unicast, mapped, nat64] = [rangeOf(GLOBAL_UNICAST), rangeOf(MAPPED), rangeOf(NAT64)];

const lastFour = (address: Bytes): Bytes => address.slice(12);
const unwrapped = (address: Bytes): Bytes => (within(address, mapped) ? lastFour(address) : address);

/** The same address in one spelling, IPv4 where IPv6 only wraps it; null for what is none. */
export function plainAddress(text: string): string | null {
  const bytes = bytesOf(text);
  if (!bytes) return null;
  const plain = unwrapped(bytes);
  if (plain.length === 4) return plain.join(".");
  return new URL(`http://[${text.split("%")[0]}]`).hostname.slice(1, -1);
}

/** What a special address is for; null for one of the open Internet. */
export function specialUse(text: string): string | null {
  const bytes = bytesOf(text);
  return bytes ? useOf(unwrapped(bytes)) : "not an address";
}

function useOf(address: Bytes): string | null {
  if (address.length === 4) return ipv4.find(({ range }) => within(address, range))?.what ?? null;
  if (within(address, nat64)) {
    const carried = useOf(lastFour(address));
    return carried && `${carried}, through NAT64`;
  }
  const listed = ipv6.find(({ range }) => within(address, range));
  if (listed) return listed.what;
  if (!within(address, global_unicast)) return "not given out";
  return isIsatap(address) ? "an ISATAP tunnel" : null;
}

/** RFC 5214: the interface is 00-00-5E-FE or 02-00-5E-FE and then an IPv4 address, behind whatever prefix. */
function isIsatap(address: Bytes): boolean {
  const [a, b, c, d] = address.slice(8);
  return (a! & 0xfd) === 0 && b === 0 && c === 0x5e && d === 0xfe;
}

/** Says which addresses are in the list of addresses and CIDRs; a range of IPv4 holds the mapped form too. */
export function readAllowance(list: readonly string[]): (address: string) => boolean {
  const allowed = list.map(rangeOf).map(({ network, bits }): Range => {
    // ::ffff:10.0.0.0/104 means 10.0.0.0/8: what is compared with it is unwrapped too.
    return within(network, mapped) && bits >= 96 ? { network: lastFour(network), bits: bits - 96 } : { network, bits };
  });
  return (text) => {
    const bytes = bytesOf(text);
    return bytes !== null && allowed.some((range) => within(unwrapped(bytes), range));
  };
}
