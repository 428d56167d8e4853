/** Redirects: which are followed, with which method, and what never goes along. */
import { describe, expect, it } from "vitest";
import type { Redirects } from "./call.ts";
import { isSameParty, nextHop, type Sent } from "./redirect.ts";

const sent: Sent = {
  url: new URL("https://a.example/from?token=t"),
  method: "GET",
  headers: {
    accept: "*/*",
    authorization: "Bearer s",
    cookie: "c=1",
    "x-api-key": "k",
    "content-type": "text/plain",
    "user-agent": "tidemark",
  },
  body: null,
};
const post: Sent = { ...sent, method: "POST", body: "b" };
const anywhere: Redirects = { follow: "any" };
const hop = (from: Sent, to: string | undefined, status = 302, policy: Redirects = anywhere, taken = 0) =>
  nextHop(from, status, to, { policy, taken, secret_headers: ["X-Api-Key"] });
const credentials = (next: Sent | null) =>
  ["authorization", "cookie", "x-api-key"].filter((name) => name in (next?.headers ?? {}));

describe("which are followed", () => {
  it.each([301, 302, 303, 307, 308])("%i is a redirect", (status) => {
    expect(hop(sent, "/to", status)?.url.href).toBe("https://a.example/to");
  });

  it.each([200, 201, 300, 304, 305, 306, 310, 399, 404])("%i is an answer, whatever its location", (status) => {
    expect(hop(sent, "/to", status)).toBeNull();
  });

  it("none without a location, and none under the policy none", () => {
    expect(hop(sent, undefined)).toBeNull();
    expect(hop(sent, "/to", 302, { follow: "none" })).toBeNull();
  });

  it.each([
    ["/x", true],
    ["//a.example/x", true],
    ["http://a.example/x", true],
    ["https://A.EXAMPLE:8443/x", true],
    ["https://b.example/x", false],
    ["https://www.a.example/x", false],
    ["https://a.example.evil.example/x", false],
    ["https://a.example@b.example/x", false],
    ["ftp://a.example/x", false],
    ["javascript:alert(1)", false],
  ])("to the same host: %s %s", (location, followed) => {
    expect(hop(sent, location, 302, { follow: "same host" }) !== null).toBe(followed);
  });

  it("to the same site by a list, or by what the caller says", () => {
    const list: Redirects = { follow: "same site", site: ["a.example", "www.a.example"] };
    expect(hop(sent, "https://www.a.example/", 302, list)).not.toBeNull();
    expect(hop(sent, "https://b.example/", 302, list)).toBeNull();
    expect(hop(sent, "file:///etc/passwd", 302, list)).toBeNull();
    const asked: string[] = [];
    const site = (from: URL, to: URL) => {
      asked.push(`${from.host} ${to.host}`);
      return to.hostname.endsWith(".a.example");
    };
    expect(hop(sent, "https://x.a.example/", 302, { follow: "same site", site })).not.toBeNull();
    expect(hop(sent, "https://xa.example/", 302, { follow: "same site", site })).toBeNull();
    expect(asked).toEqual(["a.example x.a.example", "a.example xa.example"]);
  });

  it("as many as are allowed, and then it is an error that names the host alone", () => {
    expect(hop(sent, "/to", 302, anywhere, 4)).not.toBeNull();
    expect(() => hop(sent, "/to", 302, anywhere, 5)).toThrow("a.example redirected more than 5 times.");
    expect(() => hop(sent, "/to", 302, { follow: "any", most: 0 }, 0)).toThrow("more than 0 times");
  });

  it("not to what is no URL", () => {
    expect(() => hop(sent, "https://[::1/")).toThrow("a.example redirected to something that is not a URL.");
  });
});

describe("the method and the body", () => {
  it.each([
    [301, "POST", "GET"],
    [302, "POST", "GET"],
    [303, "POST", "GET"],
    [307, "POST", "POST"],
    [308, "POST", "POST"],
    [301, "PUT", "PUT"],
    [302, "DELETE", "DELETE"],
    [303, "PUT", "GET"],
    [303, "DELETE", "GET"],
    [301, "HEAD", "HEAD"],
    [303, "HEAD", "HEAD"],
    [308, "PATCH", "PATCH"],
  ])("%i turns %s into %s", (status, method, expected) => {
    const next = hop({ ...post, method }, "/to", status)!;
    expect(next.method).toBe(expected);
    const keeps = expected === method;
    expect(next.body).toBe(keeps ? "b" : null);
    expect("content-type" in next.headers).toBe(keeps);
  });
});

describe("credentials", () => {
  it.each([["/x"], ["https://a.example/x"], ["https://a.example:443/x"]])("go on to %s", (location) => {
    expect(credentials(hop(sent, location))).toEqual(["authorization", "cookie", "x-api-key"]);
  });

  it.each([
    ["another host", "https://b.example/"],
    ["a host below", "https://x.a.example/"],
    ["a host above", "https://example/"],
    ["a host with a dot at its end", "https://a.example./"],
    ["another port", "https://a.example:8443/"],
    ["http", "http://a.example/"],
    ["http on port 443", "http://a.example:443/"],
    ["another host by its address", "https://93.184.216.34/"],
  ])("do not go to %s", (_, location) => {
    const next = hop(sent, location)!;
    expect(credentials(next)).toEqual([]);
    expect(next.headers["user-agent"]).toBe("tidemark");
  });

  it("go from http to https of the same host at the usual ports, and at no others", () => {
    const same = (from: string, to: string) => isSameParty(new URL(from), new URL(to));
    expect(same("http://a.example/", "https://a.example/")).toBe(true);
    expect(same("http://a.example:8080/", "https://a.example/")).toBe(false);
    expect(same("http://a.example/", "https://a.example:8443/")).toBe(false);
    expect(same("http://a.example:8080/", "https://a.example:8080/")).toBe(false);
    expect(same("https://a.example:80/", "http://a.example:443/")).toBe(false);
  });

  it("do not come back when the way leads home again", () => {
    const away = hop(sent, "https://b.example/")!;
    expect(credentials(hop(away, "https://a.example/"))).toEqual([]);
  });

  it("in the location itself are taken out", () => {
    expect(hop(sent, "https://user:password@b.example/x#part")?.url.href).toBe("https://b.example/x");
  });
});
