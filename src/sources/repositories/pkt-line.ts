/** The lines that git speaks in over HTTP (gitprotocol-common): four digits of length, then so many bytes. */
import { TidemarkError } from "tidemark";

export const FLUSH = "0000";
export const DELIMITER = "0001";

/** One line, with the end of line that git expects. */
export function line(text: string): string {
  return `${(Buffer.byteLength(text) + 5).toString(16).padStart(4, "0")}${text}\n`;
}

export type Packet = { is: "data"; data: Buffer } | { is: "flush" | "delimiter" | "end" };

/** The packets of a body as it comes; one that is cut or has no length is UpstreamChanged. */
export async function* packets(body: AsyncIterable<Uint8Array>): AsyncGenerator<Packet> {
  let rest: Buffer = Buffer.alloc(0);
  let last: Packet["is"] | null = null;
  for await (const part of body) {
    rest = rest.length === 0 ? Buffer.from(part) : Buffer.concat([rest, part]);
    let at = 0;
    while (rest.length - at >= 4) {
      const length = lengthAt(rest, at);
      if (rest.length - at < Math.max(length, 4)) break;
      const packet = packetOf(length, rest.subarray(at + 4, at + Math.max(length, 4)));
      last = packet.is;
      yield packet;
      at += Math.max(length, 4);
    }
    rest = rest.subarray(at);
  }
  if (rest.length > 0) throw broken("ends in the middle of a line");
  if (last !== "flush") throw broken("ends before its end");
}

function lengthAt(bytes: Buffer, at: number): number {
  const text = bytes.toString("latin1", at, at + 4);
  const length = /^[0-9a-f]{4}$/i.test(text) ? Number.parseInt(text, 16) : Number.NaN;
  if (Number.isNaN(length) || length === 3) throw broken("has a line without a length");
  return length;
}

function packetOf(length: number, data: Buffer): Packet {
  if (length === 0) return { is: "flush" };
  if (length === 1) return { is: "delimiter" };
  if (length === 2) return { is: "end" };
  return { is: "data", data };
}

export const textOf = (data: Buffer): string => data.toString("utf8").replace(/\n$/, "");

export function broken(what: string, why?: string): TidemarkError {
  const details = why === undefined ? {} : { details: { why } };
  return new TidemarkError("UpstreamChanged", `The git server's answer ${what}.`, details);
}
