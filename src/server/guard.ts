/** Who may do what over HTTP: tokens off loopback, and no foreign web page anywhere. */
import { createHash, timingSafeEqual } from "node:crypto";
import type { Context, MiddlewareHandler } from "hono";
import { TidemarkError } from "../errors.ts";

export interface GuardSettings {
  /** The address that the server listens on. */
  host: string;
  admin_token: string | null;
  read_token: string | null;
}

const safe_methods = new Set(["GET", "HEAD", "OPTIONS"]);
/** Whether the process and its database are well says nothing about the mirror, and those who ask have no tokens. */
const open_paths = new Set(["/healthz", "/readyz"]);
/** The files of the dashboard say nothing about the mirror, and whoever has to give a token sees them first. */
const isDashboard = (path: string): boolean => path === "/" || path.startsWith("/assets/");
const loopback_name = /^(localhost|[a-z0-9-]+\.localhost|127(\.\d{1,3}){3}|\[::1\]|::1)$/i;

export const isLoopback = (host: string): boolean => loopback_name.test(host);

/** Answers with 401 or 403 instead of 400. */
export class Refused extends TidemarkError {
  readonly status: 401 | 403 | 415;

  constructor(status: 401 | 403 | 415, sentence: string) {
    super("InputInvalid", sentence);
    this.status = status;
  }
}

/**
 * On loopback anybody on this machine may read and change, but not a web page that a browser here has open: a page under a
 * name that was made to point at 127.0.0.1 shows by its Host, one that posts across sites by its Origin. Off loopback a token
 * decides; no page knows it, so whoever shows it may come under any name, as behind a proxy.
 */
export function guard(settings: GuardSettings): MiddlewareHandler {
  const on_loopback = isLoopback(settings.host);
  return async (c, next) => {
    if (open_paths.has(c.req.path)) return next();
    const shown = shownToken(c, settings);
    if (on_loopback && shown === null) checkHost(c, settings.host);
    if (safe_methods.has(c.req.method)) {
      if (!on_loopback && settings.read_token !== null && shown === null && !isDashboard(c.req.path))
        throw new Refused(401, "Reading here needs `Authorization: Bearer …` with TIDEMARK_READ_TOKEN.");
      return next();
    }
    checkOrigin(c);
    if (!on_loopback) checkAdmin(shown, settings);
    if (!/^application\/json\b/i.test(c.req.header("content-type") ?? ""))
      throw new Refused(415, "Send JSON, with the header `Content-Type: application/json`.");
    return next();
  };
}

function checkAdmin(shown: Shown, settings: GuardSettings): void {
  if (settings.admin_token === null)
    throw new Refused(
      403,
      "Nothing can be changed over HTTP here: the server does not listen on loopback, and TIDEMARK_ADMIN_TOKEN is not set on it.",
    );
  if (shown !== "admin")
    throw new Refused(401, "Changing anything here needs `Authorization: Bearer …` with TIDEMARK_ADMIN_TOKEN.");
}

type Shown = "admin" | "read" | null;

function shownToken(c: Context, { admin_token, read_token }: GuardSettings): Shown {
  const given = /^Bearer +(\S.*)$/i.exec(c.req.header("authorization") ?? "")?.[1]?.trim();
  if (given === undefined) return null;
  // Both are compared whatever the first says, in a time that does not depend on how much of a token was right.
  const admin = admin_token !== null && equal(given, admin_token);
  const read = read_token !== null && equal(given, read_token);
  return admin ? "admin" : read ? "read" : null;
}

function equal(a: string, b: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}

function checkHost(c: Context, host: string): void {
  const name = hostOf(c).replace(/:\d+$/, "");
  if (isLoopback(name) || name.toLowerCase() === host.toLowerCase()) return;
  throw new Refused(403, `This server listens on loopback and does not answer to the name "${name.slice(0, 100)}".`);
}

function checkOrigin(c: Context): void {
  const origin = c.req.header("origin");
  const site = c.req.header("sec-fetch-site");
  const foreign = site !== undefined && site !== "same-origin" && site !== "none";
  const same = origin === undefined || (URL.canParse(origin) && new URL(origin).host === hostOf(c).toLowerCase());
  if (foreign || !same) throw new Refused(403, "A page of another origin may not change anything here.");
}

/** The name that the caller used; a request made in this process has it in its address only. */
function hostOf(c: Context): string {
  return c.req.header("host") ?? new URL(c.req.url).host;
}

/** Headers that keep a browser from doing more with an answer than showing it. */
export function secureHeaders(): MiddlewareHandler {
  return async (c, next) => {
    await next();
    const set = (name: string, value: string) => {
      if (!c.res.headers.has(name)) c.res.headers.set(name, value);
    };
    set("content-security-policy", "default-src 'none'; frame-ancestors 'none'");
    set("x-content-type-options", "nosniff");
    set("referrer-policy", "no-referrer");
    set("cross-origin-resource-policy", "same-origin");
    set("x-frame-options", "DENY");
    set("cache-control", "no-store");
  };
}
