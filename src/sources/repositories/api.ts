/** What people ask: the analysis at once where there is one, and otherwise when there will be. */
import type { Hono, Context as Request } from "hono";
import { type Context, type Queryable, type ResourceStatus, readResource, toJson } from "tidemark";
import {
  countWaiting,
  type HistoryRow,
  type RecentRow,
  type RepositoryRow,
  readHistory,
  readRecent,
  readRepository,
} from "./answer-rows.ts";
import { changesBetween } from "./changes.ts";
import { describeRoutes } from "./described.ts";
import { OID } from "./git-protocol.ts";
import { keyOf, nameOf, type RepositoryName } from "./names.ts";
import type { RepositoryParts } from "./parts.ts";
import { HourlyAllowance, isBot, isPerson, type Visit } from "./visitors.ts";

const FRESH_AT = "tidemark-fresh-at";
const PAGE_MOST = 100;
/** When to come back, where nothing says better. */
const WAIT_S = 5;
const WAIT_S_MOST = 300;

type Parts = RepositoryParts & { context: Context; allowance: HourlyAllowance };

export function routes(app: Hono, context: Context, given: RepositoryParts): void {
  const parts: Parts = { ...given, context, allowance: new HourlyAllowance() };
  const { read } = context;
  describeRoutes(app);
  app.get("/repositories/recent", async (c) => {
    const limit = Number(c.req.query("limit") ?? 20);
    if (!Number.isInteger(limit) || limit < 1 || limit > PAGE_MOST)
      return mistake(`limit must be a number from 1 to ${PAGE_MOST}.`, 400);
    const after = readAfter(c.req.query("after"));
    if (!after) return mistake("after must be what the page before gave as next.", 400);
    return answer(recentOf(await readRecent(read, after, limit + 1), limit), null);
  });
  app.get("/repositories/:host/:owner/:name", (c) => named(c, (name) => one(c, parts, name)));
  app.get("/repositories/:host/:owner/:name/history", (c) =>
    named(c, async (name) => {
      const row = await readRepository(read, keyOf(name), null);
      if (!row) return mistake(`${keyOf(name)} was never analysed.`, 404);
      const hidden = whyHidden(row);
      if (hidden) return mistake(hidden.sentence, hidden.status);
      return answer(
        {
          repository: keyOf(name),
          results: (await readHistory(read, row.resource_id)).map(shown),
          next: null,
          fresh_at: row.fresh_at,
        },
        row.fresh_at,
      );
    }),
  );
  app.get("/repositories/:host/:owner/:name/changes", (c) => named(c, (name) => changes(c, read, name)));
}

function named(c: Request, work: (name: RepositoryName) => Promise<Response>): Response | Promise<Response> {
  const name = nameOf(c.req.param("host") ?? "", c.req.param("owner") ?? "", c.req.param("name") ?? "");
  return name ? work(name) : mistake("That is not a repository. Ask for /repositories/github.com/owner/name.", 400);
}

async function one(c: Request, parts: Parts, name: RepositoryName): Promise<Response> {
  const key = keyOf(name);
  const commit = c.req.query("commit") ?? null;
  if (commit !== null && !OID.test(commit)) return mistake("commit must be a whole commit id.", 400);
  const visit: Visit = {
    method: c.req.method,
    header: (header) => c.req.header(header),
    view: c.req.query("view") !== "false",
  };
  const { context } = parts;
  const row = await readRepository(context.read, key, commit);
  if (!row) return commit === null ? begin(parts, visit, name) : mistake(`${key} was never analysed.`, 404);
  const ref = { kind: "repository", key };
  if (isPerson(visit)) context.viewed("repositories", ref);
  const hidden = whyHidden(row);
  if (hidden) return mistake(hidden.sentence, hidden.status);
  if (row.state === "moved" && row.moved_to !== null) return moved(row.moved_to);
  if (!row.analysis && commit !== null)
    return mistake(
      `There is no analysis of that commit of ${key}; /repositories/${key}/history lists those there are.`,
      404,
    );
  if (!row.analysis)
    return row.state === "empty" || row.state === "refused"
      ? mistake(`${key} is not analysed: ${row.reason}.`, 422)
      : waiting(parts, key);
  const age_ms = Date.parse(row.now) - Date.parse(row.fresh_at ?? row.analysis.analysed_at);
  const stale = age_ms > parts.settings().stale;
  // Served as it is, and looked after at once: whoever comes next finds it fresh.
  if (stale && commit === null && !isBot(visit)) await context.touch("repositories", ref);
  return answer(bodyOf(key, row, stale), row.fresh_at);
}

function bodyOf(key: string, row: RepositoryRow, stale: boolean): object {
  const { report, pack_bytes, ...analysis } = row.analysis!;
  return {
    repository: key,
    ...analysis,
    pack_bytes: Number(pack_bytes),
    fresh_at: row.fresh_at,
    stale,
    head: {
      oid: row.head_oid,
      ref: row.head_ref,
      moved: row.head_oid !== null && row.head_oid !== analysis.commit_oid,
    },
    trouble: row.failures > 0 ? { failures: row.failures, excluded: row.parked_at !== null, error: row.error } : null,
    note: row.state === "refused" ? row.reason : null,
    report,
  };
}

/** Nobody asked for it before: it is begun for whoever is no program that gathers pages, within bounds. */
async function begin(parts: Parts, visit: Visit, name: RepositoryName): Promise<Response> {
  const { context, allowance, settings } = parts;
  const { hosts, new_per_hour, waiting_most } = settings();
  const key = keyOf(name);
  if (isBot(visit)) return mistake(`${key} was never analysed.`, 404);
  if (!hosts.has(name.host))
    return mistake(
      `Repositories of ${name.host} are analysed only when they are followed: tidemark follow repositories ${key}.`,
      403,
    );
  if ((await countWaiting(context.read, waiting_most)) >= waiting_most)
    return mistake("Too many repositories wait for their first analysis. Come back later.", 503, WAIT_S_MOST);
  const taken = allowance.take(new_per_hour, performance.now());
  if (!taken.taken)
    return mistake(
      "Enough new repositories were begun within the last hour. Come back later.",
      429,
      Math.ceil(taken.wait_ms / 1000),
    );
  await context.follow("repositories", key);
  if (isPerson(visit)) context.viewed("repositories", { kind: "repository", key });
  return waiting(parts, key);
}

async function waiting({ context }: Parts, key: string): Promise<Response> {
  const status = await readResource(context.read, { source: "repositories", kind: "repository", key }, null);
  const eta_s = status?.line.eta_ms == null ? null : Math.ceil(status.line.eta_ms / 1000);
  const retry_s = Math.min(Math.max(Math.ceil(eta_s ?? WAIT_S), 1), WAIT_S_MOST);
  const body = {
    repository: key,
    status: status?.status === "leased" ? "analysing" : "queued",
    place: status?.line.place ?? null,
    eta_s,
    why: status?.next.why ?? null,
    trouble: troubleOf(status),
    fresh_at: null,
  };
  return new Response(toJson(body), {
    status: 202,
    headers: { "content-type": "application/json", "retry-after": String(retry_s) },
  });
}

function troubleOf(status: ResourceStatus | null): object | null {
  if (!status || status.failures === 0) return null;
  return { failures: status.failures, excluded: status.parked_at !== null, error: status.error };
}

function whyHidden(row: RepositoryRow): { sentence: string; status: number } | null {
  if (row.state === "forbidden") return { sentence: `It is not shown: ${row.reason}.`, status: 451 };
  if (row.state !== "hidden" && row.gone_at === null) return null;
  const reason = row.reason ?? "it is gone";
  return row.analysis
    ? { sentence: `It was here, and is not any more: ${reason}.`, status: 410 }
    : { sentence: `There is nothing to analyse: ${reason}.`, status: 404 };
}

async function changes(c: Request, read: Queryable, name: RepositoryName): Promise<Response> {
  const [from = "", to = ""] = [c.req.query("from"), c.req.query("to")];
  if (!OID.test(from) || !OID.test(to))
    return mistake("from and to must be whole commit ids; /history lists those there are.", 400);
  const [before, after] = [await readRepository(read, keyOf(name), from), await readRepository(read, keyOf(name), to)];
  const hidden = before && whyHidden(before);
  if (hidden) return mistake(hidden.sentence, hidden.status);
  if (!before?.analysis || !after?.analysis)
    return mistake("One of them is not among the analyses that are kept; /history lists those there are.", 404);
  return answer(
    {
      repository: keyOf(name),
      from,
      to,
      ...changesBetween(before.analysis.report, after.analysis.report),
      fresh_at: after.fresh_at,
    },
    after.fresh_at,
  );
}

const shown = ({ pack_bytes, ...row }: HistoryRow) => ({ ...row, pack_bytes: Number(pack_bytes) });

function recentOf(rows: RecentRow[], limit: number): object {
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  const next = rows.length > limit && last ? `${last.analysed_at}~${last.repository}` : null;
  const fresh = page.flatMap(({ fresh_at }) => fresh_at ?? []).sort();
  return { results: page.map(shown), next, fresh_at: fresh[0] ?? null };
}

function readAfter(text: string | undefined): { at: string; key: string } | null {
  if (text === undefined || text === "") return { at: "infinity", key: "" };
  const [, at, key] = /^(\d{4}-\d{2}-\d{2}T[\d:.]+Z)~(.+)$/.exec(text) ?? [];
  return at && key ? { at, key } : null;
}

function moved(to: string): Response {
  const body = toJson({ moved_to: to, sentence: `It is ${to} now.` });
  return new Response(body, {
    status: 301,
    headers: { "content-type": "application/json", location: `/repositories/${to}` },
  });
}

function answer(body: object, fresh_at: string | null): Response {
  const freshness: Record<string, string> = fresh_at === null ? {} : { [FRESH_AT]: fresh_at };
  return new Response(toJson(body), { headers: { "content-type": "application/json", ...freshness } });
}

function mistake(sentence: string, status: number, retry_s?: number): Response {
  const code = status === 404 || status === 410 ? "NotFollowed" : "InputInvalid";
  const retry: Record<string, string> = retry_s === undefined ? {} : { "retry-after": String(retry_s) };
  return new Response(toJson({ error: { code, sentence } }), {
    status,
    headers: { "content-type": "application/json", ...retry },
  });
}
