/** What it means when a call fails: each thing that can go wrong on the way as one of our errors, with a sentence that names the host. */
import { type ErrorCode, TidemarkError } from "../errors.ts";

const unreachable = new Set(["ECONNREFUSED", "EHOSTUNREACH", "ENETUNREACH", "ENETDOWN", "ETIMEDOUT", "EADDRNOTAVAIL"]);
const closed = new Set(["UND_ERR_SOCKET", "ECONNRESET", "EPIPE", "ECONNABORTED"]);
const MISMATCH = "UND_ERR_RES_CONTENT_LENGTH_MISMATCH";
const stopping = new Set(["UND_ERR_DESTROYED", "UND_ERR_CLOSED"]);
const mistaken = new Set(["UND_ERR_INVALID_ARG", "UND_ERR_NOT_SUPPORTED", "UND_ERR_REQ_CONTENT_LENGTH_MISMATCH"]);
/** Of TLS and of certificates, which OpenSSL names in its own way. */
const insecure = /^(ERR_TLS_|ERR_SSL_|CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_MISMATCH|INVALID_CA|EPROTO)/;
/** Nobody whom Node trusts has signed the certificate. */
const unknown_authority = new Set([
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
]);
const OWN =
  " If its certificate is signed by an authority of your own, name that authority's file in NODE_EXTRA_CA_CERTS.";

/** The code of what was thrown, which says more than its message and repeats nothing of what was sent. */
export function codeOf(thrown: unknown): string {
  const code = thrown instanceof Error ? (thrown as NodeJS.ErrnoException).code : undefined;
  return typeof code === "string" ? code : thrown instanceof Error ? thrown.name : "no reason given";
}

/** Whether the connection was closed under the call, rather than the answer being wrong. */
export const wasClosed = (thrown: unknown): boolean => closed.has(codeOf(thrown));

/** `has_head` says whether the head of an answer was there when it happened. */
export function asFailure(thrown: unknown, host: string, has_head = true): TidemarkError {
  if (thrown instanceof TidemarkError) return thrown;
  // undici says so of any head that it cannot read, as soon as a length stands in it.
  if (codeOf(thrown) === MISMATCH && !has_head)
    return new TidemarkError("UpstreamChanged", `${host} sent an answer that is not HTTP.`, { cause: thrown });
  const [meaning, sentence] = meaningOf(thrown, codeOf(thrown), host);
  // undici adds what it could not parse. An upstream can put there what we sent it, so it goes no further.
  if (thrown instanceof Error && "data" in thrown) thrown.data = undefined;
  return new TidemarkError(meaning, sentence, { cause: thrown });
}

function meaningOf(thrown: unknown, code: string, host: string): [ErrorCode, string] {
  if (unreachable.has(code)) return ["UpstreamDown", `${host} could not be reached (${code}).`];
  // undici says so of an answer that is none: a 100 that nobody asked for, a switch to another protocol.
  if (code === "UND_ERR_SOCKET" && /^bad (response|upgrade)$/.test((thrown as Error).message))
    return ["UpstreamChanged", `${host} sent an answer that fits no request of ours.`];
  if (closed.has(code)) return ["UpstreamDown", `${host} closed the connection before its answer was complete.`];
  if (code === MISMATCH || isCut(thrown))
    return ["UpstreamDown", `${host} ended its answer before all of it had arrived.`];
  if (code === "UND_ERR_HEADERS_OVERFLOW") return ["UpstreamChanged", `${host} sent a head that is too long.`];
  if (isUnparsable(thrown)) return ["UpstreamChanged", `${host} sent an answer that is not HTTP${reasonOf(thrown)}.`];
  if (insecure.test(code))
    return [
      "UpstreamDown",
      `There is no secure connection to ${host} (${code}).${unknown_authority.has(code) ? OWN : ""}`,
    ];
  if (stopping.has(code)) return ["UpstreamDown", `The call to ${host} was ended, because no more calls are made.`];
  if (mistaken.has(code))
    return [
      "InputInvalid",
      `The request to ${host} cannot be sent: its method, path or a header is not valid in HTTP.`,
    ];
  return ["UpstreamDown", `${host} could not be called (${code}).`];
}

/** Its code would say more, but undici leaves it empty. */
const isUnparsable = (thrown: unknown): thrown is Error => thrown instanceof Error && thrown.name === "HTTPParserError";

const isCut = (thrown: unknown): boolean => isUnparsable(thrown) && /Invalid EOF state/.test(thrown.message);

/** The parser's reason, one of a few fixed texts such as "Invalid character in chunk size". */
function reasonOf(thrown: Error): string {
  const reason = /\(([\w ,/'-]{1,100})\)$/.exec(thrown.message)?.[1];
  return reason === undefined ? "" : ` (${reason})`;
}
