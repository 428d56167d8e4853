/** The headers of a request: what the caller says, what we say of ourselves, and what nobody may say. */
import { TidemarkError } from "../errors.ts";
import { ACCEPT_ENCODING } from "./decode.ts";

/** They say how the message is carried, or to whom: a caller who sets them can make two servers read one request differently. */
const ours = new Set([
  "connection",
  "content-length",
  "expect",
  "host",
  "keep-alive",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** Names in lower case. A value is never repeated in a sentence: it may be a secret. */
export function sentHeaders(given: Readonly<Record<string, string>>, user_agent: string): Record<string, string> {
  const headers: Record<string, string> = {
    "user-agent": user_agent,
    accept: "*/*",
    "accept-encoding": ACCEPT_ENCODING,
  };
  for (const [name, value] of Object.entries(given)) {
    const lower = name.toLowerCase();
    if (ours.has(lower)) throw new TidemarkError("InputInvalid", `The header ${lower} is not for a caller to set.`);
    headers[lower] = value;
  }
  return headers;
}
