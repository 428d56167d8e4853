/** Serves the dashboard: its page, and the files that belong to it, none of them from elsewhere. */
import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import type { OpenAPIHono } from "@hono/zod-openapi";
import type { Context } from "hono";
import { errorBody } from "./answers.ts";

/** Where the build puts it, seen from the sources and from what is built alike. */
const built_folder = fileURLToPath(new URL("../../dist/dashboard/", import.meta.url));

/** Nothing inline, nothing from elsewhere, and in nobody's frame. */
const policy = [
  "default-src 'none'",
  ...["script-src", "style-src", "img-src", "connect-src"].map((what) => `${what} 'self'`),
  ...["base-uri", "form-action", "frame-ancestors"].map((what) => `${what} 'none'`),
].join("; ");

const types: Record<string, string> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

interface Piece {
  type: string;
  plain: Buffer;
  zipped: Buffer;
  tag: string;
}

export function dashboardRoutes(app: OpenAPIHono, folder = built_folder): void {
  let reading: Promise<Map<string, Piece>> | null = null;
  const pieces = () => {
    // A build that is not there yet may come: only what was found is remembered.
    reading ??= readPieces(folder).catch(() => {
      reading = null;
      return new Map();
    });
    return reading;
  };

  app.get("/", async (c) => {
    const page = (await pieces()).get("index.html");
    c.header("content-security-policy", policy);
    if (!page) return c.json(errorBody("ConfigInvalid", "The dashboard is not built: `npm run build` builds it."), 503);
    return answer(c, page, "no-cache");
  });

  app.get("/assets/:name", async (c) => {
    const piece = (await pieces()).get(`assets/${c.req.param("name")}`);
    if (!piece) return c.notFound();
    // The name changes with what is in it.
    return answer(c, piece, "public, max-age=31536000, immutable");
  });
}

async function readPieces(folder: string): Promise<Map<string, Piece>> {
  const names = ["index.html", ...(await readdir(path.join(folder, "assets"))).map((name) => `assets/${name}`)];
  const pieces = new Map<string, Piece>();
  for (const name of names) {
    const plain = await readFile(path.join(folder, name));
    const type = types[path.extname(name)] ?? "application/octet-stream";
    const tag = `"${createHash("sha256").update(plain).digest("base64url").slice(0, 22)}"`;
    pieces.set(name, { type, plain, zipped: gzipSync(plain, { level: 9 }), tag });
  }
  return pieces;
}

function answer(c: Context, { type, plain, zipped, tag }: Piece, caching: string): Response {
  c.header("content-type", type);
  c.header("cache-control", caching);
  c.header("etag", tag);
  c.header("vary", "accept-encoding");
  if (c.req.header("if-none-match") === tag) return c.body(null, 304);
  if (!/\bgzip\b/.test(c.req.header("accept-encoding") ?? "")) return c.body(new Uint8Array(plain));
  c.header("content-encoding", "gzip");
  return c.body(new Uint8Array(zipped));
}
