/** Answers of this source: JSON, plain or compressed, that says how fresh the mirror is. */
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { toJson } from "tidemark";
import type { Feed } from "./feed-rows.ts";

const FRESH_AT = "tidemark-fresh-at";
const squeeze = promisify(gzip);

const headersOf = ({ fresh_at }: Feed): Record<string, string> => (fresh_at === null ? {} : { [FRESH_AT]: fresh_at });

export function json(body: object, feed: Feed): Response {
  return new Response(toJson(body), { headers: { "content-type": "application/json", ...headersOf(feed) } });
}

/** As the protocol wants it, whatever the client says it accepts. */
export async function squeezed(body: object, feed: Feed): Promise<Response> {
  const headers = { "content-type": "application/json", "content-encoding": "gzip", ...headersOf(feed) };
  return new Response(await squeeze(toJson(body)), { headers });
}

export function nothing(sentence: string, feed: Feed): Response {
  const body = toJson({ error: { code: "NotFollowed", sentence } });
  return new Response(body, { status: 404, headers: { "content-type": "application/json", ...headersOf(feed) } });
}
