/** A plain status page: no script, nothing from elsewhere, readable with any browser. */
import { createHash } from "node:crypto";
import type { OpenAPIHono } from "@hono/zod-openapi";
import { html, raw } from "hono/html";
import { formatDuration } from "../duration.ts";
import type { Overview } from "../engine/overview.ts";
import type { Remembered } from "./remembered.ts";

const style = `
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 72rem; padding: 0 1rem; color: #1b1f24; background: #fff }
table { border-collapse: collapse; width: 100%; margin: 0 0 2rem; font-variant-numeric: tabular-nums }
th, td { text-align: right; padding: .3rem .6rem; border-bottom: 1px solid #d0d7de; vertical-align: top }
th:first-child, td:first-child, .words { text-align: left }
caption { text-align: left; font-weight: 600; font-size: 1.2rem; padding: .4rem 0 }
.bad { color: #b3261e; font-weight: 600 }
@media (prefers-color-scheme: dark) { body { color: #e6edf3; background: #0d1117 } th, td { border-color: #30363d } .bad { color: #ff7b72 } a { color: #79c0ff } }
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
<p>Release ${version}, at ${all.now.slice(0, 19)}Z. ${all.estimated ? "Counts are estimates from a sample." : ""}
The same as JSON: <a href="/api/status">/api/status</a>; all there is to ask: <a href="/openapi.json">/openapi.json</a>.</p>
${all.sources.length === 0 ? html`<p>No source is loaded. Start with <code>tidemark up --source ./mine.js</code>.</p>` : sourcesTable(all)}
${upstreamsTable(all)}
${workersTable(all)}
</body>
</html>`;
}

function sourcesTable({ sources, now }: Overview): Html {
  const rows = sources.map(
    (
      s,
    ) => html`<tr><td><a href="/api/resources?source=${encodeURIComponent(s.source)}">${s.source}</a></td><td>${s.followed}</td><td>${s.resources}</td>
<td>${s.fresh_percent === null ? "–" : `${s.fresh_percent} %`}</td><td>${s.due}</td><td>${ago(now, s.oldest_due_at)}</td><td>${s.leased}</td>
<td class="${s.parked > 0 ? "bad" : ""}">${s.parked}</td><td>${s.paused}</td><td>${s.messages}</td><td>${s.pulls_per_minute}</td>
<td>${s.eta_ms === null ? "–" : formatDuration(s.eta_ms, 1)}</td></tr>`,
  );
  return html`<table><caption>Sources</caption>
<tr><th>source</th><th>followed</th><th>resources</th><th>fresh</th><th>due</th><th>oldest due</th><th>leased</th><th>parked</th><th>paused</th><th>messages</th><th>pulls/min</th><th>ETA</th></tr>
${rows}</table>`;
}

function upstreamsTable({ upstreams, now }: Overview): Html {
  const closed = upstreams.filter((one) => one.closed_until !== null);
  if (closed.length === 0) return html``;
  const rows = closed.map(
    (u) =>
      html`<tr><td>${u.upstream}</td><td>${formatDuration(Date.parse(u.closed_until!) - Date.parse(now), 1)}</td><td class="words">${u.closed_reason}</td></tr>`,
  );
  return html`<table><caption>Closed upstreams</caption><tr><th>upstream</th><th>for</th><th class="words">why</th></tr>${rows}</table>`;
}

function workersTable({ workers, now }: Overview): Html {
  if (workers.length === 0) return html`<p class="bad">No worker is running, so nothing is pulled.</p>`;
  const rows = workers.map(
    (w) =>
      html`<tr><td>${w.name}</td><td>${w.busy} of ${w.slots}</td><td>${ago(now, w.started_at)}</td><td>${ago(now, w.seen_at)}</td><td>${w.stopping ? "stopping" : ""}</td></tr>`,
  );
  return html`<table><caption>Workers</caption><tr><th>worker</th><th>busy</th><th>up for</th><th>seen ago</th><th></th></tr>${rows}</table>`;
}
