/** Tests of the settings: what is read, what is refused and in which words, what is masked. */
import { expect, it } from "vitest";
import { type Config, configWarnings, describeConfig, readConfig, secretsOf } from "./config.ts";
import { TidemarkError } from "./errors.ts";

function refusal(env: Record<string, string>, sources: string[] = []): string {
  try {
    readConfig(env, sources);
  } catch (thrown) {
    expect(thrown).toBeInstanceOf(TidemarkError);
    expect((thrown as TidemarkError).code).toBe("ConfigInvalid");
    return (thrown as TidemarkError).message;
  }
  throw new Error("the settings were accepted");
}

it("has a default for every setting, and no more than 25 of them", () => {
  const config = readConfig({});
  expect(config).toMatchObject({
    database_url: null,
    data: "./.tidemark",
    port: 8080,
    host: "127.0.0.1",
    slots: 64,
    lease_ttl_ms: 30_000,
    grace_ms: 20_000,
    pull_timeout_ms: 600_000,
    park_after: 8,
    cool_off_ms: 86_400_000,
    messages_max: 1_000_000,
    log_level: "info",
    pool: 10,
    github_url: "https://api.github.com",
    allow_private: [],
    proxy: null,
    github_tokens: {},
    given: [],
  });
  expect(describeConfig(config).length).toBeLessThanOrEqual(25);
});

it("reads durations, numbers, ranges and tokens bound to hosts", () => {
  const config = readConfig({
    TIDEMARK_LEASE_TTL: "5s",
    TIDEMARK_GRACE: "1500",
    TIDEMARK_SLOTS: " 200 ",
    TIDEMARK_ALLOW_PRIVATE: "127.0.0.1, 10.0.0.0/8 ::1",
    GITHUB_TOKENS: "github.com=a,b;GHE.corp.example=c",
  });
  expect(config.lease_ttl_ms).toBe(5_000);
  expect(config.grace_ms).toBe(1_500);
  expect(config.slots).toBe(200);
  expect(config.allow_private).toEqual(["127.0.0.1", "10.0.0.0/8", "::1"]);
  expect(config.github_tokens).toEqual({ "github.com": ["a", "b"], "ghe.corp.example": ["c"] });
  expect(config.given).toContain("TIDEMARK_SLOTS");
});

it("cannot be changed once it is read, at any depth", () => {
  const config = readConfig({ GITHUB_TOKENS: "github.com=a" });
  expect(() => {
    (config as { port: number }).port = 1;
  }).toThrow(TypeError);
  expect(() => (config.github_tokens["github.com"] as string[]).push("b")).toThrow(TypeError);
});

it("takes an empty variable for one that is not set", () => {
  expect(readConfig({ TIDEMARK_PORT: "", DATABASE_URL: " " })).toMatchObject({ port: 8080, database_url: null });
});

it("tells every mistake at once, in one sentence", () => {
  const sentence = refusal({ TIDEMARK_PORT: "80x", TIDEMARK_LEASE_TTL: "1h", TIDEMARK_LOG_LEVEL: "loud" });
  expect(sentence).toBe(
    'The settings cannot be used: TIDEMARK_PORT must be a whole number from 0 to 65535, not "80x"; ' +
      'TIDEMARK_LEASE_TTL must be a duration from 1s to 10m such as "30s", not "1h"; ' +
      'TIDEMARK_LOG_LEVEL must be one of debug, info, warn, error, silent, not "loud".',
  );
});

it.each([
  ["TIDEMARK_SLOTS", "0"],
  ["TIDEMARK_SLOTS", "5001"],
  ["TIDEMARK_SLOTS", "1e3"],
  ["TIDEMARK_PULL_TIMEOUT", "soon"],
  ["TIDEMARK_ALLOW_PRIVATE", "10.0.0.0/33"],
  ["TIDEMARK_ALLOW_PRIVATE", "localhost"],
  ["TIDEMARK_PARKED_HOOK", "ftp://example.com/x"],
  ["TIDEMARK_CONTACT", "me\r\nX-Evil: 1"],
  ["DATABASE_URL", "mysql://localhost/x"],
  ["GITHUB_TOKENS", "github.com="],
])("refuses %s=%j and names the setting", (name, text) => {
  expect(refusal({ [name]: text })).toContain(name);
});

it("never repeats a secret in its complaint", () => {
  expect(refusal({ GITHUB_TOKENS: "ghp_sesame" })).not.toContain("sesame");
  expect(refusal({ DATABASE_URL: "postgres://u:sesame#1@h:x/db" })).not.toContain("sesame");
});

it("suggests the nearest name for a misspelt setting", () => {
  expect(refusal({ TIDEMARK_SLOT: "9" })).toContain("TIDEMARK_SLOT is not a setting, use TIDEMARK_SLOTS");
  expect(refusal({ TIDEMARK_FROBNICATION: "9" })).toContain("`tidemark config` lists those there are");
});

it("leaves a source's own settings to that source, and reports those of a source it does not know", () => {
  const env = { TIDEMARK_GO_MODULES_EVERY: "1h" };
  expect(readConfig(env, ["go-modules"]).source_settings).toEqual({ "go-modules": { every: "1h" } });
  expect(refusal(env, ["nuget"])).toContain("TIDEMARK_GO_MODULES_EVERY");
});

it("is not confused by what Kubernetes sets for a service named tidemark", () => {
  const links = {
    TIDEMARK_SERVICE_HOST: "10.0.0.1",
    TIDEMARK_SERVICE_PORT: "80",
    TIDEMARK_PORT_80_TCP_ADDR: "10.0.0.1",
  };
  expect(readConfig(links).port).toBe(8080);
  expect(refusal({ TIDEMARK_PORT: "tcp://10.0.0.1:80" })).toContain("enableServiceLinks: false");
});

it("refuses a replica without the database it follows", () => {
  expect(refusal({ TIDEMARK_READ_URL: "postgres://replica/db" })).toContain("TIDEMARK_READ_URL needs DATABASE_URL");
});

const secretive: Config = readConfig({
  DATABASE_URL: "postgres://tide:s%40same-1@db.example/tidemark?sslpassword=sesame-2",
  TIDEMARK_ADMIN_TOKEN: "sesame-3",
  GITHUB_TOKENS: "github.com=sesame-4,sesame-5",
  EMBEDDINGS_KEY: "sesame-6",
  TIDEMARK_PARKED_HOOK: "https://hooks.example/T1/sesame-7",
});

it("masks every secret and says where each value came from", () => {
  const rows = describeConfig(secretive);
  expect(JSON.stringify(rows)).not.toMatch(/s%40same|s@same|sesame/);
  const row = (name: string) => rows.find((found) => found.name === name);
  expect(row("DATABASE_URL")).toMatchObject({
    value: "postgres://tide:****@db.example/tidemark?sslpassword=****",
    from: "environment",
  });
  expect(row("GITHUB_TOKENS")?.value).toBe("github.com=****,****");
  expect(row("TIDEMARK_PARKED_HOOK")?.value).toBe("https://hooks.example/****");
  expect(row("TIDEMARK_LEASE_TTL")).toMatchObject({ value: "30s", from: "default" });
  for (const { name, meaning } of rows) expect(meaning, name).not.toBe("");
});

it("lists the secrets that logs must not show, as written and as decoded", () => {
  expect(secretsOf(secretive)).toEqual(
    expect.arrayContaining(["s%40same-1", "s@same-1", "sesame-2", "sesame-3", "sesame-4", "sesame-6", "/T1/sesame-7"]),
  );
  expect(secretsOf(readConfig({}))).toEqual([]);
});

it("warns of an open server, and of nothing on loopback", () => {
  expect(configWarnings(readConfig({}))).toEqual([]);
  const warnings = configWarnings(readConfig({ TIDEMARK_HOST: "0.0.0.0", TIDEMARK_READ_TOKEN: "t" }));
  expect(warnings).toHaveLength(1);
  expect(warnings[0]).toContain("TIDEMARK_ADMIN_TOKEN");
});
