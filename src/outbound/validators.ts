/** What makes the next request for the same thing conditional: validators read from an answer, and sent back as they came. */
import { parseHttpDate } from "./http-date.ts";

/** To be remembered with what was read, as text: weak stays weak, and a date stays in the form it had. */
export interface Validators {
  etag: string | null;
  last_modified: string | null;
}

const NOTHING: Validators = { etag: null, last_modified: null };

/** A quoted tag, or a bare word as careless servers send it. "*" would mean "whatever you have", so it is none. */
const TAG = /^(?:W\/)?(?:"[\x21\x23-\x7e\x80-\xff]*"|[\x21\x23-\x29\x2b\x2d-\x7e]+)$/;
const TAG_LENGTH_MAX = 1000;

/** What an answer can be asked about again with. `now_ms` is for years of two digits alone. */
export function validatorsOf(headers: Readonly<Record<string, string>>, now_ms: number): Validators {
  const etag = headers.etag?.trim() ?? "";
  return {
    etag: TAG.test(etag) && etag.length <= TAG_LENGTH_MAX ? etag : null,
    last_modified: lastModifiedOf(headers, now_ms),
  };
}

/**
 * A date in the same second as the answer is no validator: a change later in that second would carry it too, and we would be
 * told "not modified" for ever (RFC 9110, 8.8.2.2).
 */
function lastModifiedOf(headers: Readonly<Record<string, string>>, now_ms: number): string | null {
  const text = headers["last-modified"]?.trim() ?? "";
  const at_ms = parseHttpDate(text, now_ms);
  const sent_ms = parseHttpDate(headers.date ?? "", now_ms);
  return at_ms === null || (sent_ms !== null && at_ms >= sent_ms) ? null : text;
}

/** The headers that say "only if it is no longer this"; none where nothing is remembered. */
export function conditionalHeaders({ etag, last_modified }: Validators = NOTHING): Record<string, string> {
  return {
    ...(etag === null ? {} : { "if-none-match": etag }),
    ...(last_modified === null ? {} : { "if-modified-since": last_modified }),
  };
}

/** After a 304: what it says anew takes the place of what was remembered; what it does not say stays. */
export function validatorsAfterUnchanged(
  remembered: Validators,
  headers: Readonly<Record<string, string>>,
  now_ms: number,
): Validators {
  const said = validatorsOf(headers, now_ms);
  return {
    etag: said.etag ?? remembered.etag,
    last_modified: said.last_modified ?? remembered.last_modified,
  };
}
