/** What the mirror answers: searches, issues that are alike, and how each repository is doing. */
import type { Hono, Context as Request } from "hono";
import { type Context, TidemarkError, toJson } from "tidemark";
import { describeRoutes } from "./described.ts";
import { readLimit } from "./paging.ts";
import type { SourceParts } from "./parts.ts";
import { readFreshAt } from "./result-rows.ts";
import { Searcher } from "./search.ts";
import { readSearch } from "./search-request.ts";
import { StatusReader } from "./status.ts";
import { readIssue } from "./status-rows.ts";
import { readVectors } from "./vector-rows.ts";

const FRESH_AT = "tidemark-fresh-at";

export function routes(app: Hono, context: Context, parts: SourceParts): void {
  describeRoutes(app);
  const { read } = context;
  const searcher = new Searcher(context, parts);
  const status = new StatusReader(read, parts, searcher);

  app.get("/issues/search", async (c) => {
    const request = readSearch(c.req.query("q") ?? "");
    const limit = readLimit(c.req.query("limit"));
    const fresh_at = await readFreshAt(read, searcher.visible);
    const { results, next, semantic } = await searcher.search(request, c.req.query("after") ?? "", limit);
    return json({ results, next, fresh_at, ...semantic });
  });

  app.get("/issues/repos", async (c) => {
    const fresh_at = await readFreshAt(read, searcher.visible);
    return json({ ...(await status.list(c.req.query("after") ?? "", readLimit(c.req.query("limit")))), fresh_at });
  });

  app.get("/issues/repos/:owner/:repo", async (c) => {
    const name = nameOf(c);
    const one = await status.one(name);
    if (one) {
      context.viewed("github-issues", { kind: "repository", key: one.key });
      return json(one);
    }
    throw notFollowed(name);
  });

  app.get("/issues/repos/:owner/:repo/:number/similar", async (c) => {
    const name = nameOf(c);
    const number = c.req.param("number");
    if (!/^\d{1,9}$/.test(number))
      throw new TidemarkError("InputInvalid", `"${number.slice(0, 50)}" is not the number of an issue.`);
    const repository = await status.one(name);
    if (!repository) throw notFollowed(name);
    const issue = repository.searchable ? await readIssue(read, name, Number(number)) : null;
    if (!issue) throw new TidemarkError("NotFollowed", `There is no issue ${number} of ${name.name} here.`);
    const generation = await searcher.generation();
    const [vector] = generation ? await readVectors(read, generation, issue.resource_id, issue.number) : [];
    const limit = readLimit(c.req.query("limit"));
    const { results, next, semantic } = await searcher.similar(issue, vector ?? null, limit);
    return json({ results, next, fresh_at: repository.fresh_at, ...semantic });
  });

  app.get("/issues/status", async () => json(await status.all()));
}

/** An Enterprise Server's repositories are asked for with `host`. */
function nameOf(c: Request): { host: string; name: string } {
  const host = (c.req.query("host") ?? "github.com").toLowerCase();
  return { host, name: `${c.req.param("owner")}/${c.req.param("repo")}` };
}

const notFollowed = ({ host, name }: { host: string; name: string }): TidemarkError => {
  const typed = host === "github.com" ? name : `${host}/${name}`;
  return new TidemarkError(
    "NotFollowed",
    `${typed} is not followed, or is not there: \`tidemark follow github-issues ${typed}\` follows it, \`tidemark status\` says what became of it.`,
  );
};

function json<T extends { fresh_at: string | null }>(body: T): Response {
  const fresh: Record<string, string> = body.fresh_at === null ? {} : { [FRESH_AT]: body.fresh_at };
  return new Response(toJson(body), { headers: { "content-type": "application/json", ...fresh } });
}
