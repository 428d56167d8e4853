/** What it means when a call fails: each thing that can go wrong on the way as one of our errors, with a sentence that names the host. */
import { type ErrorCode, TidemarkError } from "../errors.ts";

const unreachable = new Set(["ECONNREFUSED", "EHOSTUNREACH", "ENETUNREACH", "ENETDOWN", "ETIMEDOUT", "EADDRNOTAVAIL"]);
const closed = new Set(["UND_ERR_SOCKET", "ECONNRESET", "EPIPE", "ECONNABORTED"]);
const cut = new Set(["UND_ERR_RES_CONTENT_LENGTH_MISMATCH", "HPE_INVALID_EOF_STATE", "HPE_CLOSED_CONNECTION"]);
const stopping = new Set(["UND_ERR_DESTROYED", "UND_ERR_CLOSED"]);
const mistaken = new Set(["UND_ERR_INVALID_ARG", "UND_ERR_NOT_SUPPORTED", "UND_ERR_REQ_CONTENT_LENGTH_MISMATCH"]);
/** Of TLS and of certificates, which OpenSSL names in its own way. */
const insecure = /^(ERR_TLS_|ERR_SSL_|CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_MISMATCH|INVALID_CA|EPROTO)/;

/** The code of what was thrown, which says more than its message and repeats nothing of what was sent. */
export function codeOf(thrown: unknown): string {
  const code = thrown instanceof Error ? (thrown as NodeJS.ErrnoException).code : undefined;
  return typeof code === "string" ? code : thrown instanceof Error ? thrown.name : "no reason given";
}

/** Whether the connection was closed under the call, rather than the answer being wrong. */
export const wasClosed = (thrown: unknown): boolean => closed.has(codeOf(thrown));

export function asFailure(thrown: unknown, host: string): TidemarkError {
  if (thrown instanceof TidemarkError) return thrown;
  const code = codeOf(thrown);
  const [meaning, sentence] = meaningOf(thrown, code, host);
  return new TidemarkError(meaning, sentence, { cause: thrown });
}

function meaningOf(thrown: unknown, code: string, host: string): [ErrorCode, string] {
  if (unreachable.has(code)) return ["UpstreamDown", `${host} could not be reached (${code}).`];
  // undici says so of an answer that is none: a 100 that nobody asked for, a switch to another protocol.
  if (code === "UND_ERR_SOCKET" && /^bad (response|upgrade)$/.test((thrown as Error).message))
    return ["UpstreamChanged", `${host} sent an answer that fits no request of ours.`];
  if (closed.has(code)) return ["UpstreamDown", `${host} closed the connection before its answer was complete.`];
  if (cut.has(code)) return ["UpstreamDown", `${host} ended its answer before all of it had arrived.`];
  if (code === "UND_ERR_HEADERS_OVERFLOW") return ["UpstreamChanged", `${host} sent a head that is too long.`];
  if (code.startsWith("HPE_")) return ["UpstreamChanged", `${host} sent an answer that is not HTTP (${code}).`];
  if (insecure.test(code)) return ["UpstreamDown", `There is no secure connection to ${host} (${code}).`];
  if (stopping.has(code)) return ["UpstreamDown", `The call to ${host} was ended, because no more calls are made.`];
  if (mistaken.has(code))
    return [
      "InputInvalid",
      `The request to ${host} cannot be sent: its method, path or a header is not valid in HTTP.`,
    ];
  return ["UpstreamDown", `${host} could not be called (${code}).`];
}
