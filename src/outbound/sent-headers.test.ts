/** Callers say what they want in headers, but not how the message is carried. */
import { expect, it } from "vitest";
import { sentHeaders } from "./sent-headers.ts";

it("says who we are and what we understand", () => {
  const headers = sentHeaders({}, "tidemark/1 (+mailto:a@example.com)");
  expect(headers["user-agent"]).toBe("tidemark/1 (+mailto:a@example.com)");
  expect(headers["accept-encoding"]).toContain("gzip, deflate, br");
});

it("takes the caller's word, in lower case", () => {
  expect(sentHeaders({ Accept: "text/html", "X-Key": "k" }, "t")).toMatchObject({ accept: "text/html", "x-key": "k" });
});

it.each(["Host", "content-length", "Transfer-Encoding", "connection", "Expect", "upgrade", "te"])(
  "refuses %s",
  (name) => {
    expect(() => sentHeaders({ [name]: "secret" }, "t")).toThrow(
      `The header ${name.toLowerCase()} is not for a caller to set.`,
    );
  },
);
