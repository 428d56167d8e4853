/** The web site that crawlers are measured on: pages with natural text, links and sizes, on loopback, in a process of its own. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

const WORDS = 20_000;
const LINKS = 12;

/** Numbers in [0, 1), the same for the same seed. */
export function numbers(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The word of a rank; short ones are frequent, as in every language. */
export function word(rank: number): string {
  let text = "";
  for (let n = rank + 1; n > 0; n = Math.floor(n / 20)) text += "bcdfghklmnprstvwzjxq"[n % 20]! + "aeiou"[n % 5]!;
  return text;
}

/** Zipf: the word of rank r comes about once in r times. */
export const zipf = (random: () => number): string => word(Math.floor(Math.exp(random() * Math.log(WORDS))) - 1);

function page(n: number, pages: number, version: number): string {
  const random = numbers(n * 7919 + version);
  const count = Math.round(80 * Math.exp(random() * 2.5));
  const paragraphs: string[] = [];
  for (let left = count; left > 0; left -= 60)
    paragraphs.push(`<p>${Array.from({ length: Math.min(60, left) }, () => zipf(random)).join(" ")}.</p>`);
  // A tree, so that all are reached, and links across it.
  const tree = Array.from({ length: LINKS }, (_, i) => n * LINKS + i + 1).filter((to) => to < pages);
  const across = Array.from({ length: LINKS }, () => Math.floor(random() * pages));
  const links = [...tree, ...across].map(
    (to) => `<li><a href="${to === 0 ? "/" : `/page-${word(to)}`}">${zipf(random)}</a></li>`,
  );
  return `<!doctype html><html><head><meta charset="utf-8"><title>${zipf(random)} ${zipf(random)} ${word(n)}</title></head><body><h1>${zipf(random)}</h1>${paragraphs.join("")}<ul>${links.join("")}</ul></body></html>`;
}

function serve(pages: number): void {
  const paths = new Map<string, number>(
    Array.from({ length: pages }, (_, n) => [n === 0 ? "/" : `/page-${word(n)}`, n]),
  );
  const bodies = new Map<number, Buffer>();
  const versions = new Map<number, number>();
  let requests = 0;
  let bytes = 0;
  const seen = new Set<number>();
  const server = createServer((request, response) => {
    requests += 1;
    const n = paths.get(request.url ?? "/");
    if (n === undefined) {
      response.writeHead(404, { "content-type": "text/plain" }).end("none");
      return;
    }
    seen.add(n);
    const etag = `"${n}-${versions.get(n) ?? 0}"`;
    if (request.headers["if-none-match"] === etag) {
      response.writeHead(304, { etag }).end();
      return;
    }
    const body = bodies.get(n) ?? Buffer.from(page(n, pages, versions.get(n) ?? 0));
    bodies.set(n, body);
    bytes += body.length;
    response
      .writeHead(200, { "content-type": "text/html; charset=utf-8", etag, "content-length": body.length })
      .end(body);
  });
  server.keepAliveTimeout = 60_000;
  server.listen(0, "127.0.0.1", () => process.send!({ port: (server.address() as AddressInfo).port }));
  process.on("message", (verb: string) => {
    if (verb === "change")
      for (let n = 0; n < pages; n += 100) {
        versions.set(n, (versions.get(n) ?? 0) + 1);
        bodies.delete(n);
      }
    const told = { requests, bytes, seen: seen.size };
    if (verb === "reset" || verb === "change") {
      requests = 0;
      bytes = 0;
      seen.clear();
    }
    process.send!(told);
  });
  process.on("disconnect", () => process.exit(0));
}

if (process.argv[1]?.endsWith("web-site.ts")) serve(Number(process.argv[2]));
