/** A plain status page: no script, nothing from elsewhere, readable with any browser. */
import { createHash } from "node:crypto";
import type { OpenAPIHono } from "@hono/zod-openapi";
import { html, raw } from "hono/html";
import { formatDuration } from "../duration.ts";
import type { Overview } from "../engine/overview.ts";
import type { Remembered } from "./remembered.ts";

const style = `
:root { color-scheme: light dark }
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 76rem; padding: 0 1rem; color: #1b1f24; background: #fff }
h1 { margin: 0 0 .5rem; font-size: 1.8rem }
h2 { margin: 2rem 0 .25rem; font-size: 1.2rem }
.wide { overflow-x: auto }
table { border-collapse: collapse; font-variant-numeric: tabular-nums }
th, td { text-align: right; padding: .3rem 0 .3rem 1.4rem; border-bottom: 1px solid #d0d7de; vertical-align: top; white-space: nowrap }
th { font-weight: 600; color: #57606a }
th:first-child, td:first-child { text-align: left; padding-left: 0 }
.words { text-align: left; white-space: normal; min-width: 16rem }
.bad { color: #b3261e; font-weight: 600 }
@media (prefers-color-scheme: dark) { body { color: #e6edf3; background: #0d1117 } th, td { border-color: #30363d } th { color: #8b949e } .bad { color: #ff7b72 } a { color: #79c0ff } }
`;
const style_hash = createHash("sha256").update(style).digest("base64");
const policy = `default-src 'none'; style-src 'sha256-${style_hash}'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'`;

type Html = ReturnType<typeof html>;

export function pageRoute(app: OpenAPIHono, overview: Remembered<Overview>, version: string): void {
  app.get("/", async (c) => {
    c.header("content-security-policy", policy);
    return c.html(page(await overview.get(), version));
  });
}

const ago = (now: string, at: string | null): string =>
  at === null ? "–" : formatDuration(Math.max(0, Date.parse(now) - Date.parse(at)), 1);

function page(all: Overview, version: string): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="refresh" content="5">
<title>Tidemark</title>
<style>${raw(style)}</style>
</head>
<body>
<h1>Tidemark</h1>
<p>Release ${version}, at ${all.now.slice(0, 19).replace("T", " ")} UTC. ${all.estimated ? "Counts are estimates from a sample." : ""}
The same as JSON: <a href="/api/status">/api/status</a>; all there is to ask: <a href="/openapi.json">/openapi.json</a>.</p>
${all.sources.length === 0 ? html`<p>No source is loaded. Start with <code>tidemark up --source ./mine.js</code>.</p>` : sourcesTable(all)}
${upstreamsTable(all)}
${workersTable(all)}
</body>
</html>`;
}

/** On a narrow screen the table scrolls, and the page does not. */
function table(heading: string, columns: string[], rows: Html[]): Html {
  const heads = columns.map((name) => html`<th scope="col" class="${name === "why" ? "words" : ""}">${name}</th>`);
  return html`<h2>${heading}</h2>
<div class="wide" tabindex="0" role="region" aria-label="${heading}"><table><thead><tr>${heads}</tr></thead><tbody>
${rows}</tbody></table></div>`;
}

/** A number that should be 0. */
const unwelcome = (count: number): Html => html`<td class="${count > 0 ? "bad" : ""}">${count}</td>`;

const source_columns = [
  ...["source", "followed", "resources", "fresh", "due", "oldest due", "leased", "parked", "paused", "gone"],
  ...["messages", "pulls/min", "ETA"],
];

function sourcesTable({ sources, now }: Overview): Html {
  const rows = sources.map(
    (
      s,
    ) => html`<tr><td><a href="/api/resources?source=${encodeURIComponent(s.source)}">${s.source}</a></td><td>${s.followed}</td><td>${s.resources}</td>
<td>${s.fresh_percent === null ? "–" : `${s.fresh_percent} %`}</td><td>${s.due}</td><td>${ago(now, s.oldest_due_at)}</td><td>${s.leased}</td>
${unwelcome(s.parked)}<td>${s.paused}</td><td>${s.gone}</td><td>${s.messages}</td><td>${s.pulls_per_minute}</td>
<td>${s.eta_ms === null ? "–" : formatDuration(s.eta_ms, 1)}</td></tr>`,
  );
  return table("Sources", source_columns, rows);
}

function upstreamsTable({ upstreams, now }: Overview): Html {
  const closed = upstreams.filter((one) => one.closed_until !== null);
  if (closed.length === 0) return html``;
  const rows = closed.map(
    (u) =>
      html`<tr><td>${u.upstream}</td><td>${formatDuration(Date.parse(u.closed_until!) - Date.parse(now), 1)}</td><td class="words">${u.closed_reason}</td></tr>`,
  );
  return table("Closed upstreams", ["upstream", "for", "why"], rows);
}

function workersTable({ workers, now }: Overview): Html {
  if (workers.length === 0) return html`<p class="bad">No worker is running, so nothing is pulled.</p>`;
  const rows = workers.map(
    (w) =>
      html`<tr><td>${w.name}${w.stopping ? " (stopping)" : ""}</td><td>${w.busy} of ${w.slots}</td><td>${ago(now, w.started_at)}</td><td>${ago(now, w.seen_at)} ago</td></tr>`,
  );
  return table("Workers", ["worker", "busy", "up for", "seen"], rows);
}
