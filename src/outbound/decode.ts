/** Undoes the encodings of a body while it arrives, each step bounded, so that a bomb is stopped before it has gone off. */
import { pipeline, Readable, type Transform } from "node:stream";
import zlib from "node:zlib";
import { TidemarkError } from "../errors.ts";

type Encoding = "gzip" | "deflate" | "br" | "zstd";
type Parts = AsyncIterable<Uint8Array>;

/** Two are sent now and then by a careless proxy; more are an attack. */
const ENCODINGS_MAX = 3;
/** A window of 8 MB at most, as RFC 9659 has it for the web; zstd by itself would take 128 MB. */
const ZSTD_WINDOW_LOG_MAX = 23;

interface Zstd {
  createZstdDecompress(options: { params: Record<number, number> }): Transform;
  constants: { ZSTD_d_windowLogMax: number };
}

/** Node has it from 22.15 on. */
const zstd = "createZstdDecompress" in zlib ? (zlib as unknown as Zstd) : null;

/** What we say that we understand. */
export const ACCEPT_ENCODING = zstd ? "gzip, deflate, br, zstd" : "gzip, deflate, br";

const names: Readonly<Record<string, Encoding>> = {
  gzip: "gzip",
  "x-gzip": "gzip",
  deflate: "deflate",
  br: "br",
  ...(zstd ? { zstd: "zstd" as const } : {}),
};

/** The encodings of a body, in the order in which they are to be undone. */
export function encodingsOf(header: string | undefined, host: string): Encoding[] {
  const listed = (header ?? "")
    .toLowerCase()
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "" && name !== "identity");
  if (listed.length > ENCODINGS_MAX)
    throw new TidemarkError("UpstreamChanged", `${host} encoded its answer more than ${ENCODINGS_MAX} times.`);
  return listed.reverse().map((name) => {
    const encoding = Object.hasOwn(names, name) ? names[name] : undefined;
    if (encoding) return encoding;
    throw new TidemarkError("UpstreamChanged", `${host} sent its answer in an encoding that was not asked for.`);
  });
}

export interface DecodeParts {
  host: string;
  /** Of what each step brings forth. */
  bytes_max: number;
}

/**
 * The body without its encodings. What one step brings forth is read by the next only as fast as it goes. Whoever stops reading
 * ends the body itself: waiting for it from here could take as long as its sender likes.
 */
export function decoded(body: Parts, encodings: readonly Encoding[], parts: DecodeParts): Parts {
  return encodings.reduce((before, encoding) => decodeOnce(before, encoding, parts), body);
}

async function* decodeOnce(body: Parts, encoding: Encoding, parts: DecodeParts): AsyncGenerator<Uint8Array> {
  const source = body[Symbol.asyncIterator]();
  try {
    const first = await firstBytes(source);
    // Servers say "gzip" of nothing at all, too.
    if (first === null) return;
    const decoder = decoderFor(encoding, first);
    // Errors of either come out of the loop below, and leaving it ends both.
    pipeline(Readable.from(rest(first, source), { objectMode: true, highWaterMark: 1 }), decoder, () => undefined);
    let bytes = 0;
    for await (const part of decoder as AsyncIterable<Uint8Array>) {
      bytes += part.length;
      if (bytes > parts.bytes_max)
        throw new TidemarkError(
          "UpstreamChanged",
          `${parts.host} sent more than ${parts.bytes_max} bytes when decompressed.`,
        );
      yield part;
    }
  } catch (error) {
    if (error instanceof TidemarkError) throw error;
    throw new TidemarkError(
      "UpstreamChanged",
      `${parts.host} sent a body that is not the ${encoding} it is said to be.`,
      {
        cause: error,
      },
    );
  }
}

async function firstBytes(source: AsyncIterator<Uint8Array>): Promise<Uint8Array | null> {
  for (;;) {
    const { done, value } = await source.next();
    if (done) return null;
    if (value.length > 0) return value;
  }
}

async function* rest(first: Uint8Array, source: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield first;
  for (;;) {
    const { done, value } = await source.next();
    if (done) return;
    yield value;
  }
}

function decoderFor(encoding: Encoding, first: Uint8Array): Transform {
  switch (encoding) {
    case "gzip":
      return zlib.createGunzip();
    case "deflate":
      // The standard means zlib's format; some servers send it bare. Its first byte tells: method 8, and a small window.
      return (first[0]! & 0x0f) === 8 && first[0]! >> 4 <= 7 ? zlib.createInflate() : zlib.createInflateRaw();
    case "br":
      return zlib.createBrotliDecompress();
    case "zstd":
      return zstd!.createZstdDecompress({ params: { [zstd!.constants.ZSTD_d_windowLogMax]: ZSTD_WINDOW_LOG_MAX } });
  }
}
