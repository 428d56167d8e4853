/** The pretend GitHub behaves as the real one where it matters: schema, points, limits, visibility. */
import { beforeEach, describe, expect, it } from "vitest";
import { GitHub, type Reply } from "./hub.ts";

const AT_MS = Date.UTC(2030, 0);
let hub: GitHub;
let token: string;
beforeEach(() => {
  hub = new GitHub();
  token = hub.account("bot");
});

interface Said {
  data?: Record<string, unknown> | null;
  errors?: { type?: string; message: string }[];
}

async function ask(query: string, variables = {}, at_ms = AT_MS, by = token): Promise<Reply & { said: Said }> {
  const headers = by === "" ? {} : { authorization: `Bearer ${by}` };
  const body = JSON.stringify({ query, variables });
  const reply = await hub.answer({ at_ms, method: "POST", path: "/graphql", headers, body });
  return { ...reply, said: reply.body as Said };
}

describe("a query", () => {
  it("that GitHub's schema does not have is refused", async () => {
    const { status, said } = await ask("{ repositoryOwner(login: 3) { stars } }");
    expect(status).toBe(200);
    expect(said.data).toBeUndefined();
    expect(said.errors?.map((e) => e.message).join()).toMatch(/stars/);
  });

  it("for a field that GitHub has and this one does not answer says so", async () => {
    hub.repository("acme/x");
    const { said } = await ask('{ repository(owner: "acme", name: "x") { stargazerCount } }');
    expect(said.errors?.[0]?.message).toBe("The pretend GitHub does not answer Repository.stargazerCount.");
  });

  it("without a bound on a connection, or with too large a one, is refused", async () => {
    const refs = (args: string) =>
      ask(`{ repository(owner: "acme", name: "x") { refs(refPrefix: "refs/tags/"${args}) { totalCount } } }`);
    expect((await refs("")).said.errors?.[0]?.type).toBe("MISSING_PAGINATION_BOUNDARIES");
    expect((await refs(", first: 101")).said.errors?.[0]?.type).toBe("EXCESSIVE_PAGINATION");
  });

  it("needs a token, and one that is good", async () => {
    expect((await ask("{ rateLimit { cost } }", {}, AT_MS, "")).status).toBe(401);
    expect((await ask("{ rateLimit { cost } }", {}, AT_MS, "stolen")).status).toBe(401);
  });
});

describe("points", () => {
  const nested = (repositories: number, connections: number) => `{ rateLimit { cost }
    repositoryOwner(login: "acme") { repositories(first: ${repositories}) { nodes {
      ${Array.from({ length: connections }, (_, i) => `r${i}: refs(refPrefix: "refs/tags/", first: 10) { totalCount }`).join(" ")} } } } }`;

  it.each([
    [10, 1, 1],
    [100, 1, 1],
    [100, 2, 2],
    [100, 5, 5],
  ])(
    "are the connections' requests over a hundred: %i repositories with %i connections cost %i",
    async (n, of, points) => {
      hub.owner("acme");
      const { said } = await ask(nested(n, of));
      expect(said.data?.rateLimit).toEqual({ cost: points });
    },
  );

  it("are counted by account and hour, told in headers, and refused with HTTP 200 when they are spent", async () => {
    hub = new GitHub({ limits: { points: 2 } });
    token = hub.account("bot");
    const other = hub.account("other");
    expect((await ask("{ rateLimit { remaining } }")).said.data).toEqual({ rateLimit: { remaining: 1 } });
    expect((await ask("{ rateLimit { cost } }")).headers["x-ratelimit-remaining"]).toBe("0");
    const { status, said, headers } = await ask("{ rateLimit { cost } }");
    expect([status, said.errors?.[0]?.type, headers["x-ratelimit-resource"]]).toEqual([200, "RATE_LIMITED", "graphql"]);
    expect((await ask("{ rateLimit { cost } }", {}, AT_MS, other)).said.errors).toBeUndefined();
    expect((await ask("{ rateLimit { cost } }", {}, AT_MS + 3_600_000)).said.errors).toBeUndefined();
  });
});

describe("what is seen", () => {
  const name = (owner: string, repository: string) =>
    ask(`{ repository(owner: "${owner}", name: "${repository}") { nameWithOwner } }`);

  it("is not what is private, unless one is a member", async () => {
    hub.repository("acme/secret", { isPrivate: true });
    expect((await name("acme", "secret")).said.errors?.[0]?.type).toBe("NOT_FOUND");
    hub.account("bot", { member: ["acme"] });
    expect((await name("acme", "secret")).said.data).toEqual({ repository: { nameWithOwner: "acme/secret" } });
  });

  it("is a renamed one under its old name, too, until that is somebody else's", async () => {
    hub.repository("acme/x");
    hub.move("acme/x", "Acme/y");
    expect((await name("ACME", "X")).said.data).toEqual({ repository: { nameWithOwner: "acme/y" } });
    hub.repository("acme/x");
    expect((await name("acme", "x")).said.data).toEqual({ repository: { nameWithOwner: "acme/x" } });
  });
});

describe("bad days", () => {
  const tags = `{ repository(owner: "acme", name: "x") { refs(refPrefix: "refs/tags/", first: 3,
    orderBy: { field: TAG_COMMIT_DATE, direction: DESC }) { nodes { name } } } }`;
  beforeEach(() => {
    hub.repository("acme/x");
    for (const tag of ["v1.0.0", "v1.1.0", "v1.2.0"]) hub.push("acme/x", tag, { date_ms: AT_MS });
  });

  it("a call that takes too long is a 502, and costs a point besides", async () => {
    hub.mischief = () => ({ mischief: "timeout" });
    const { status, headers } = await ask(tags);
    expect([status, headers["x-ratelimit-used"]]).toEqual([502, "2"]);
    hub.mischief = () => null;
    hub.slow.set(hub.find("acme/x")!.id, 11_000);
    expect((await ask(tags)).status).toBe(502);
  });

  it("a part that is missing is null, with an error that names its place", async () => {
    hub.mischief = () => ({ mischief: "partial", paths: [["repository", "refs"]] });
    const { status, said } = await ask(tags);
    expect([status, said.data]).toEqual([200, { repository: { refs: null } }]);
    expect(said.errors).toMatchObject([{ path: ["repository", "refs"] }]);
  });

  it("tags of one date come in another order with each call", async () => {
    const orders = [await ask(tags), await ask(tags), await ask(tags)].map(({ said }) => JSON.stringify(said.data));
    expect(new Set(orders).size).toBe(3);
  });

  it("too much work in a minute is a 403 with Retry-After, and is over after it", async () => {
    hub = new GitHub({ limits: { cpu_ms: 1 } });
    token = hub.account("bot");
    expect((await ask("{ rateLimit { cost } }")).status).toBe(200);
    const { status, headers } = await ask("{ rateLimit { cost } }");
    expect([status, headers["retry-after"]]).toEqual([403, "60"]);
    expect((await ask("{ rateLimit { cost } }", {}, AT_MS + 60_000)).status).toBe(200);
  });

  it("of several ids those that nobody has are null, each with an error", async () => {
    const { id } = hub.find("acme/x")!;
    const { said } = await ask("query ($ids: [ID!]!) { nodes(ids: $ids) { id } }", { ids: [id, "R_gone"] });
    expect(said.data).toEqual({ nodes: [{ id }, null] });
    expect(said.errors).toMatchObject([{ type: "NOT_FOUND", path: ["nodes", 1] }]);
  });
});

it("an Enterprise Server has its own paths, and no limits unless it is given some", async () => {
  hub = new GitHub({ enterprise: true });
  const headers = { authorization: `Bearer ${hub.account("bot")}` };
  const body = JSON.stringify({ query: "{ rateLimit { cost } viewer { login } }" });
  const call = (method: string, path: string) => hub.answer({ at_ms: AT_MS, method, path, headers, body });
  expect(await call("POST", "/api/graphql")).toMatchObject({
    status: 200,
    headers: {},
    body: { data: { rateLimit: null, viewer: { login: "bot" } } },
  });
  expect(await call("GET", "/api/v3/user")).toMatchObject({ status: 200, body: { login: "bot" } });
  expect((await call("POST", "/graphql")).status).toBe(404);
});

it("holds 5,000 repositories and 200,000 tags, and lists them", async () => {
  for (let r = 0; r < 5_000; r += 1) {
    hub.repository(`acme/r${r}`);
    for (let t = 0; t < 40; t += 1) hub.push(`acme/r${r}`, `v1.${t}.0`, { commit: "one" });
  }
  const { said } = await ask(`{ repositoryOwner(login: "acme") { repositories(first: 100) { totalCount nodes {
    refs(refPrefix: "refs/tags/", first: 10, orderBy: { field: TAG_COMMIT_DATE, direction: DESC }) { totalCount } } } } }`);
  expect(said.data?.repositoryOwner).toMatchObject({ repositories: { totalCount: 5_000 } });
});
