/** The guard lets through whom it should, and nobody else: tokens off loopback, no foreign page anywhere. */
import { describe, expect, it } from "vitest";
import { Events } from "../events.ts";
import { answerError } from "./answers.ts";
import { type GuardSettings, guard, secureHeaders } from "./guard.ts";
import { newApp } from "./parts.ts";

const loopback: GuardSettings = { host: "127.0.0.1", admin_token: null, read_token: null };
const outside: GuardSettings = { host: "0.0.0.0", admin_token: "admin-secret", read_token: "read-secret" };
const json = { "content-type": "application/json" };
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

function appWith(settings: GuardSettings) {
  const app = newApp();
  app.use(secureHeaders());
  app.use(guard(settings));
  app.onError(answerError(new Events()));
  for (const path of ["/api/status", "/healthz", "/readyz", "/metrics"]) app.get(path, (c) => c.text("read"));
  app.post("/api/follow", (c) => c.text("changed"));
  const ask = async (method: string, path: string, host: string, headers: Record<string, string>) =>
    (await app.request(`http://${host}${path}`, { method, headers: { host, ...headers } })).status;
  return {
    app,
    get: (path: string, host: string, headers = {}) => ask("GET", path, host, headers),
    post: (host: string, headers: Record<string, string> = json) => ask("POST", "/api/follow", host, headers),
  };
}

describe("on loopback", () => {
  const { get, post } = appWith(loopback);

  it.each(["localhost:8080", "127.0.0.1:8080", "127.3.2.1", "[::1]:8080", "tidemark.localhost"])(
    "whoever calls it %s may read and change",
    async (host) => {
      expect(await get("/api/status", host)).toBe(200);
      expect(await post(host)).toBe(200);
    },
  );

  it.each(["evil.example", "127.0.0.1.evil.example", "localhost.evil.example:8080", "10.0.0.1"])(
    "a page that made %s point here may neither read nor change",
    async (host) => {
      expect(await get("/api/status", host)).toBe(403);
      expect(await get("/metrics", host)).toBe(403);
      expect(await post(host)).toBe(403);
      expect(await get("/healthz", host)).toBe(200);
    },
  );

  it("a page of another origin may not post", async () => {
    expect(await post("localhost:8080", { ...json, origin: "https://evil.example" })).toBe(403);
    expect(await post("localhost:8080", { ...json, origin: "null" })).toBe(403);
    expect(await post("localhost:8080", { ...json, origin: "http://localhost:9999" })).toBe(403);
    expect(await post("localhost:8080", { ...json, "sec-fetch-site": "cross-site" })).toBe(403);
    expect(await post("localhost:8080", { ...json, origin: "http://localhost:8080" })).toBe(200);
  });

  it("a form cannot post, because it cannot say that it sends JSON", async () => {
    expect(await post("localhost", {})).toBe(415);
    expect(await post("localhost", { "content-type": "text/plain" })).toBe(415);
    expect(await post("localhost", { "content-type": "application/x-www-form-urlencoded" })).toBe(415);
  });
});

describe("off loopback", () => {
  const { get, post, app } = appWith(outside);

  it("reading needs one of the tokens, and changing the one for it", async () => {
    expect(await get("/api/status", "box.example")).toBe(401);
    expect(await get("/metrics", "box.example")).toBe(401);
    expect(await get("/api/status", "box.example", bearer("read-secret"))).toBe(200);
    expect(await get("/metrics", "box.example", bearer("admin-secret"))).toBe(200);
    expect(await post("box.example", { ...json, ...bearer("read-secret") })).toBe(401);
    expect(await post("box.example", { ...json, ...bearer("admin-secret") })).toBe(200);
  });

  it.each(["", "x", "admin-secre", "admin-secret2", "ADMIN-SECRET"])(
    "the token %j is not taken for another",
    async (token) => {
      expect(await post("box.example", { ...json, ...bearer(token) })).toBe(401);
      expect(await get("/api/status", "box.example", bearer(token))).toBe(401);
    },
  );

  it("coming by loopback is no token", async () => {
    expect(await get("/api/status", "127.0.0.1")).toBe(401);
    expect(await post("127.0.0.1")).toBe(401);
  });

  it("whether it is alive and ready is not a secret", async () => {
    expect(await get("/healthz", "box.example")).toBe(200);
    expect(await get("/readyz", "box.example")).toBe(200);
  });

  it("nothing can be changed while no token is set, and the answer says which setting to set", async () => {
    const open = appWith({ ...outside, admin_token: null, read_token: null });
    expect(await open.get("/api/status", "box.example")).toBe(200);
    expect(await open.post("box.example")).toBe(403);
    const response = await open.app.request("http://box.example/api/follow", { method: "POST", headers: json });
    expect(await response.text()).toContain("TIDEMARK_ADMIN_TOKEN");
  });

  it("a page of another origin may not post even with the token", async () => {
    expect(await post("box.example", { ...json, ...bearer("admin-secret"), origin: "https://evil.example" })).toBe(403);
  });

  it("answers carry what keeps a browser from using them otherwise", async () => {
    const { headers } = await app.request("http://box.example/api/status", { headers: bearer("read-secret") });
    expect(headers.get("content-security-policy")).toContain("default-src 'none'");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("cross-origin-resource-policy")).toBe("same-origin");
    expect(headers.get("access-control-allow-origin")).toBeNull();
  });
});
