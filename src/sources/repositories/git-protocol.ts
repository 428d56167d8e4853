/** What is asked of a git server over HTTP (protocol version 2), and what its answers say; nothing here calls anybody. */
import { broken, DELIMITER, FLUSH, line, packets, textOf } from "./pkt-line.ts";

/** Blobs above this are counted and not read. */
export const BLOB_BYTES_MAX = 1024 * 1024;

export const OID = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

/** The headers of every question. */
export const asked = {
  "content-type": "application/x-git-upload-pack-request",
  accept: "application/x-git-upload-pack-result",
  "git-protocol": "version=2",
};

const command = (name: string, format: string): string =>
  `${line(`command=${name}`)}${line("agent=tidemark")}${line(`object-format=${format}`)}${DELIMITER}`;

/** Where HEAD is, in one round trip; `format` is how the repository names its objects. */
export function headQuestion(format = "sha1"): string {
  return `${command("ls-refs", format)}${line("symrefs")}${line("unborn")}${line("ref-prefix HEAD")}${FLUSH}`;
}

export interface Head {
  oid: string;
  /** The branch that it stands for; null where it stands for none. */
  ref: string | null;
}

/** Null for a repository without a commit; also where there are branches and HEAD names one that is not among them. */
export async function readHead(body: Uint8Array): Promise<Head | null> {
  for await (const packet of packets(once(body))) {
    if (packet.is !== "data") continue;
    const [oid = "", name, ...attributes] = textOf(packet.data).split(" ");
    if (oid === "ERR") throw broken("is an error");
    if (name !== "HEAD" || oid === "unborn") continue;
    if (!OID.test(oid)) throw broken("names no commit");
    const ref = attributes.find((text) => text.startsWith("symref-target:"))?.slice("symref-target:".length);
    return { oid, ref: ref ?? null };
  }
  return null;
}

export interface Wanted {
  oid: string;
  /** What is left out by the server, where it can: "blob:limit=N", "tree:0". */
  filter?: string;
  /** Only the commit itself, or what was committed since this second. */
  depth?: 1;
  since_s?: number;
}

/** Asks for a pack of objects. */
export function packQuestion({ oid, filter, depth, since_s }: Wanted): string {
  const format = oid.length === 64 ? "sha256" : "sha1";
  return [
    command("fetch", format),
    line("ofs-delta"),
    line("no-progress"),
    filter === undefined ? "" : line(`filter ${filter}`),
    depth === undefined ? "" : line(`deepen ${depth}`),
    since_s === undefined ? "" : line(`deepen-since ${since_s}`),
    line(`want ${oid}`),
    line("done"),
    FLUSH,
  ].join("");
}

/** Takes the pack out of an answer, part by part; tells which commits it ends at, as if they had no parents. */
export async function* packOf(
  body: AsyncIterable<Uint8Array>,
  shallow: (oid: string) => void,
): AsyncGenerator<Uint8Array> {
  let within = "";
  for await (const packet of packets(body)) {
    if (packet.is !== "data") {
      within = "";
      continue;
    }
    if (within === "packfile") {
      const [band] = packet.data;
      if (band === 1) yield packet.data.subarray(1);
      else if (band === 3) throw broken(`is an error: ${shown(packet.data.subarray(1))}`, "refused");
      continue;
    }
    const text = textOf(packet.data);
    if (text.startsWith("ERR ")) throw broken(`is an error: ${shown(packet.data.subarray(4))}`, "refused");
    if (within === "") within = text;
    else if (within === "shallow-info" && text.startsWith("shallow ")) shallow(text.slice(8));
  }
}

/** Somebody else's words, short and without anything that a terminal would obey. */
const shown = (data: Buffer): string =>
  textOf(data)
    .replaceAll(/[^\x20-\x7e]/g, " ")
    .slice(0, 200)
    .trim();

async function* once(body: Uint8Array): AsyncGenerator<Uint8Array> {
  yield body;
}
