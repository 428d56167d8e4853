/** Each way to fail has a code and a sentence that names the host and repeats nothing else. */
import { expect, it } from "vitest";
import { TidemarkError } from "../errors.ts";
import { asFailure, wasClosed } from "./failure.ts";

const thrown = (code: string, message = "secret") => Object.assign(new Error(message), { code });

it.each([
  ["ECONNREFUSED", "UpstreamDown", "could not be reached"],
  ["ENETUNREACH", "UpstreamDown", "could not be reached"],
  ["ECONNRESET", "UpstreamDown", "closed the connection"],
  ["UND_ERR_SOCKET", "UpstreamDown", "closed the connection"],
  ["UND_ERR_RES_CONTENT_LENGTH_MISMATCH", "UpstreamDown", "before all of it had arrived"],
  ["UND_ERR_HEADERS_OVERFLOW", "UpstreamChanged", "too long"],
  ["CERT_HAS_EXPIRED", "UpstreamDown", "no secure connection to a.example (CERT_HAS_EXPIRED)"],
  ["ERR_TLS_CERT_ALTNAME_INVALID", "UpstreamDown", "no secure connection"],
  ["DEPTH_ZERO_SELF_SIGNED_CERT", "UpstreamDown", "no secure connection"],
  ["UND_ERR_DESTROYED", "UpstreamDown", "no more calls are made"],
  ["UND_ERR_INVALID_ARG", "InputInvalid", "cannot be sent"],
  ["EWHATEVER", "UpstreamDown", "could not be called (EWHATEVER)"],
])("%s is %s", (code, meaning, words) => {
  const failure = asFailure(thrown(code), "a.example");
  expect(failure.code).toBe(meaning);
  expect(failure.message).toContain(words);
  expect(failure.message).toContain("a.example");
  expect(failure.message).not.toContain("secret");
});

it("tells an answer to nothing from a closed connection", () => {
  expect(asFailure(thrown("UND_ERR_SOCKET", "bad upgrade"), "a.example").code).toBe("UpstreamChanged");
  expect(asFailure(thrown("UND_ERR_SOCKET", "other side closed"), "a.example").code).toBe("UpstreamDown");
});

it("tells what is not HTTP from what ended too early, and drops what could not be parsed", () => {
  const unparsable = (reason: string) =>
    Object.assign(new Error(`Response does not match the HTTP/1.1 protocol (${reason})`), {
      name: "HTTPParserError",
      data: "secret",
    });
  const nonsense = asFailure(unparsable("Invalid character in chunk size"), "a.example");
  expect(nonsense.code).toBe("UpstreamChanged");
  expect(nonsense.message).toBe("a.example sent an answer that is not HTTP (Invalid character in chunk size).");
  expect(nonsense.cause).toMatchObject({ data: undefined });
  const cut = asFailure(unparsable("Invalid EOF state"), "a.example");
  expect([cut.code, cut.message]).toEqual(["UpstreamDown", "a.example ended its answer before all of it had arrived."]);
});

it("leaves our own errors as they are, and survives what is no error", () => {
  const ours = new TidemarkError("UpstreamBusy", "wait");
  expect(asFailure(ours, "a.example")).toBe(ours);
  expect(asFailure("secret", "a.example").message).toBe("a.example could not be called (no reason given).");
});

it("knows a connection that was closed under a call", () => {
  expect(["ECONNRESET", "EPIPE", "UND_ERR_SOCKET"].map((code) => wasClosed(thrown(code)))).toEqual([true, true, true]);
  expect(["ECONNREFUSED", "HPE_INVALID_CONSTANT"].map((code) => wasClosed(thrown(code)))).toEqual([false, false]);
});
