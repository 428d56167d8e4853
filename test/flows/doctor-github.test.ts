/** What `tidemark doctor` says of the tokens for GitHub, by what a server answers to each. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import { checkGitHub } from "../../src/cli/doctor-github.ts";
import { realClock } from "../../src/clock.ts";

let server: Server;
let github_url: string;
const asked: (string | undefined)[] = [];

const answers: Record<string, [number, string]> = {
  good: [200, JSON.stringify({ resources: { graphql: { limit: 5000, remaining: 4990 } } })],
  revoked: [401, '{"message":"Bad credentials"}'],
  unlimited: [404, '{"message":"Rate limiting is not enabled."}'],
  unwell: [502, "<html>"],
  odd: [200, "[]"],
};

beforeAll(async () => {
  server = createServer((request, response) => {
    asked.push(request.url);
    const [status, body] = answers[request.headers.authorization?.replace("Bearer ", "") ?? ""] ?? [500, ""];
    response.writeHead(status, { "content-type": "application/json" }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  github_url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
});

afterAll(() => new Promise((resolve) => server.close(resolve)));

const check = (tokens: string[], url = github_url, allow_private = ["127.0.0.1"]) =>
  checkGitHub(
    { github_tokens: { "github.com": tokens }, github_url: url, allow_private, proxy: null },
    realClock,
    "1.2.3",
  );

it.each([
  ["good", "yes", "works: 4990 of 5000 points are left this hour."],
  ["revoked", "no", "is refused: it was revoked or has expired. Put a new one into GITHUB_TOKENS."],
  ["unlimited", "yes", "works; no limits are set there."],
  ["unwell", "warning", "answers HTTP 502; ask again in a while."],
  ["odd", "no", "could not be tried."],
])("says of a token that is %s what to do", async (token, well, words) => {
  const [finding] = await check([token]);
  expect(finding).toMatchObject({ what: "github", well });
  expect(finding!.sentence).toContain(`The token for github.com`);
  expect(finding!.sentence).toContain(words);
  expect(finding!.sentence).not.toContain("Bearer");
  expect(asked.at(-1)).toBe("/rate_limit");
});

it("looks at every token by itself", async () => {
  const found = await check(["good", "revoked"]);
  expect(found.map(({ sentence }) => sentence.slice(0, 30))).toEqual([
    "Token 1 of 2 for github.com wo",
    "Token 2 of 2 for github.com is",
  ]);
});

it("says why a server could not be reached", async () => {
  const [finding] = await check(["good"], github_url, []);
  expect(finding).toMatchObject({ well: "no" });
  expect(finding!.sentence).toContain("TIDEMARK_ALLOW_PRIVATE");
});

it("says what is missing where there is no token", async () => {
  const [finding] = await checkGitHub(
    { github_tokens: {}, github_url, allow_private: [], proxy: null },
    realClock,
    "1.2.3",
  );
  expect(finding!.sentence).toContain("GITHUB_TOKENS is not set");
});
