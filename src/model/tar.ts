/** Reads files out of a tar archive, as npm writes them. */

const BLOCK = 512;

const text = (bytes: Uint8Array): string => {
  const end = bytes.indexOf(0);
  return new TextDecoder().decode(end < 0 ? bytes : bytes.subarray(0, end));
};

/** The wanted ones of the regular files; long names are those of pax headers. */
export function filesIn(archive: Uint8Array, wanted: ReadonlySet<string>): Map<string, Uint8Array> {
  const found = new Map<string, Uint8Array>();
  let long: string | null = null;
  for (let at = 0; at + BLOCK <= archive.length; ) {
    const header = archive.subarray(at, at + BLOCK);
    if (header.every((byte) => byte === 0)) break;
    const size = Number.parseInt(text(header.subarray(124, 136)).trim() || "0", 8);
    if (!Number.isInteger(size) || size < 0) break;
    const type = String.fromCharCode(header[156]!);
    const content = archive.subarray(at + BLOCK, at + BLOCK + size);
    const prefix = text(header.subarray(345, 500));
    const name = long ?? [prefix, text(header.subarray(0, 100))].filter(Boolean).join("/");
    long = type === "x" ? (/\d+ path=([^\n]+)\n/.exec(text(content))?.[1] ?? null) : null;
    if ((type === "0" || type === "\0") && wanted.has(name)) found.set(name, content);
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK;
  }
  return found;
}
