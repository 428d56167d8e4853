/** Tests of addresses of pages: what is written is read back. */
import { expect, it } from "vitest";
import { readRoute, routeTo, toResource } from "./route.ts";

it("reads back what it wrote, whatever is in a key", () => {
  for (const key of ["github.com/acme", "a%2Fb", "ä ö+%", "https://example.com/?q=1#x", "100%"]) {
    const { path } = readRoute(toResource({ source: "web", kind: "page", key }));
    expect(path).toEqual(["resources", "web", "page", key]);
  }
});

it("leaves out what is not asked for", () => {
  const hash = routeTo(["sources", "web"], { status: "due", q: "", after: null });
  expect(hash).toBe("#/sources/web?status=due");
  expect(readRoute(hash).query.get("status")).toBe("due");
});

it("takes what cannot be decoded as it is", () => {
  expect(readRoute("#/sources/100%").path).toEqual(["sources", "100%"]);
  expect(readRoute("").path).toEqual([]);
});
