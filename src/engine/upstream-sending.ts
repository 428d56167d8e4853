/** A source's request in the words of the outbound client. */
import type { FetchRequest } from "../contract.ts";
import { BYTES_MAX, type Call } from "../outbound/call.ts";

const TIMEOUT_MS = 30_000;
/** A header that the source chose may hold a credential of its own. */
const may_be_secret = /auth|token|key|cookie|secret|pass|session/i;

/** `header` is what carries our credential, where there is one. */
export function sendingOf(request: FetchRequest, header: Record<string, string> = {}): Call {
  const { method, headers = {}, body, bytes_max, save_to, timeout_ms = TIMEOUT_MS, redirects = "none" } = request;
  return {
    headers: { ...headers, ...header },
    secret_headers: [...Object.keys(header), ...Object.keys(headers).filter((name) => may_be_secret.test(name))],
    redirects: { follow: redirects },
    timeouts: { headers_ms: timeout_ms, whole_ms: timeout_ms },
    ...(method === undefined ? {} : { method }),
    ...(body === undefined ? {} : { body }),
    ...(bytes_max === undefined ? {} : { bytes_max, wire_bytes_max: Math.max(bytes_max, BYTES_MAX) }),
    ...(save_to === undefined ? {} : { save_to }),
  };
}
