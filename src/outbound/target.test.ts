/** What is to be called is a web address without credentials, and what is not is refused without being repeated. */
import { describe, expect, it } from "vitest";
import { TidemarkError } from "../errors.ts";
import { portOf, readTarget } from "./target.ts";

function refusal(text: string): TidemarkError {
  try {
    readTarget(text);
  } catch (error) {
    return error as TidemarkError;
  }
  throw new Error(`${text} was accepted`);
}

describe("a target", () => {
  it.each(["", "example.com", "/path", "http://", "http://[fe80::1%25eth0]/", "http://exa mple/", "http://1.2.3.256/"])(
    "is not %j",
    (text) => {
      expect(refusal(text)).toMatchObject({ code: "InputInvalid" });
    },
  );

  it.each([
    "file:///etc/passwd",
    "ftp://example.com/",
    "gopher://example.com/",
    "data:text/plain,x",
    "javascript:x",
    "ws://example.com/",
  ])("is not %s", (text) => {
    expect(refusal(text)).toMatchObject({ code: "OutboundForbidden" });
    expect(refusal(text).message).toContain("Only http and https are called");
  });

  it("has no port 0", () => {
    expect(refusal("http://example.com:0/")).toMatchObject({ code: "OutboundForbidden" });
    expect(portOf(readTarget("https://example.com/"))).toBe(443);
    expect(portOf(readTarget("http://example.com:81/"))).toBe(81);
  });

  it.each(["https://user:hunter2@example.com/", "https://hunter2@example.com/", "https://:hunter2@example.com/"])(
    "with credentials is refused, and they are not repeated",
    (text) => {
      expect(refusal(text)).toBeInstanceOf(TidemarkError);
      expect(refusal(text).message).not.toContain("hunter2");
      expect(refusal(text).message).toContain("example.com");
    },
  );
});
