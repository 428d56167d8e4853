/** Tokens that calls are made with: bound to hosts, pooled by the account behind them, dropped when an upstream refuses one. */
import { createHmac, randomBytes } from "node:crypto";
import sql from "sql-template-tag";
import type { Clock } from "../clock.ts";
import type { Answer, Upstream, UpstreamCredentials } from "../contract.ts";
import { TidemarkError } from "../errors.ts";
import type { Events } from "../events.ts";
import type { HostTokens } from "../secrets.ts";
import type { Db, Queryable } from "../store/db.ts";

/** How long what the database says of tokens is believed. */
const BELIEVE_MS = 30_000;
/** A refused token is tried again after an hour: a person may have given it back its rights, or its upstream was mistaken. */
const REVOKED_HOURS = 1;

export interface Credential {
  /** Who is behind the token; a name made of its digest where nobody knows. */
  account: string;
  digest: string;
  header: Record<string, string>;
}

interface Known {
  digest: string;
  account: string | null;
  revoked: boolean;
}

export interface CredentialParts {
  db: Db;
  clock: Clock;
  events: Events;
  tokens: HostTokens;
}

/** A call with one token, to learn whose it is. */
export type AskWith = (url: string, header: Record<string, string>) => Promise<Answer>;

export class Credentials {
  readonly #parts: CredentialParts;
  readonly #known = new Map<string, { at_ms: number; pool: Promise<Credential[]> }>();
  readonly #unlearned = new Map<string, number>();
  #key: Promise<string> | null = null;

  constructor(parts: CredentialParts) {
    this.#parts = parts;
  }

  /** The tokens for a call, one for each account; null where calls to it are made without one. */
  async pool(upstream: Upstream, target: URL, ask: AskWith): Promise<Credential[] | null> {
    const declared = upstream.credentials;
    if (!declared || !mayGoTo(declared, target)) return null;
    const host = declared.host.toLowerCase();
    const tokens = this.#parts.tokens[host] ?? [];
    if (tokens.length === 0) return null;
    const now_ms = this.#parts.clock.elapsed_ms();
    const known = this.#known.get(host);
    if (known && now_ms - known.at_ms < BELIEVE_MS) return known.pool;
    const pool = this.#read(declared, host, tokens, ask);
    this.#known.set(host, { at_ms: now_ms, pool });
    pool.catch(() => this.#known.delete(host));
    return pool;
  }

  async #read(
    declared: UpstreamCredentials,
    host: string,
    tokens: readonly string[],
    ask: AskWith,
  ): Promise<Credential[]> {
    const { db } = this.#parts;
    this.#key ??= digestKey(db);
    const key = await this.#key;
    const known = new Map((await readKnown(db, host)).map((row) => [row.digest, row]));
    const byAccount = new Map<string, Credential>();
    for (const token of tokens) {
      const digest = digestOf(key, host, token);
      const row = known.get(digest);
      if (row?.revoked) continue;
      const header = declared.header?.(token) ?? { authorization: `Bearer ${token}` };
      const account = row?.account ?? (await this.#learn(declared, host, digest, header, ask));
      // Two tokens of one account share its quota: one of them is enough.
      if (account !== null && !byAccount.has(account)) byAccount.set(account, { account, digest, header });
    }
    return [...byAccount.values()];
  }

  /** Whose token it is, by asking; while that fails it stands for itself. Null when the token is refused. */
  async #learn(
    declared: UpstreamCredentials,
    host: string,
    digest: string,
    header: Record<string, string>,
    ask: AskWith,
  ): Promise<string | null> {
    const { db, clock } = this.#parts;
    const own = `token-${digest.slice(0, 8)}`;
    if (!declared.account) return own;
    if (clock.elapsed_ms() - (this.#unlearned.get(digest) ?? Number.NEGATIVE_INFINITY) < BELIEVE_MS) return own;
    try {
      const account = await declared.account((url) => ask(url, header));
      await rememberAccount(db, host, digest, account);
      return account;
    } catch (thrown) {
      if (thrown instanceof TidemarkError && thrown.code === "UpstreamForbids") {
        await this.revoke(host, { account: own, digest, header });
        return null;
      }
      this.#unlearned.set(digest, clock.elapsed_ms());
      return own;
    }
  }

  /** The upstream refuses this token: it drops out, for every worker. */
  async revoke(host: string, { account, digest }: Credential): Promise<void> {
    const { db, events } = this.#parts;
    this.#known.delete(host.toLowerCase());
    if (await rememberRevoked(db, host.toLowerCase(), digest)) events.emit("credential_revoked", { host, account });
  }
}

/** A token goes to its own host over https, and where its upstream says that it belongs; nowhere else. */
export function mayGoTo({ host, origins = [] }: UpstreamCredentials, target: URL): boolean {
  return (
    target.origin === `https://${host.toLowerCase()}` ||
    origins.some((o) => URL.canParse(o) && new URL(o).origin === target.origin)
  );
}

/** What is kept of a token: nobody who reads the database can tell the token by it, nor compare it with that of another installation. */
export function digestOf(key: string, host: string, token: string): string {
  return createHmac("sha256", Buffer.from(key, "hex")).update(`${host}\u0000${token}`).digest("hex").slice(0, 32);
}

/** The key of this installation, made by whoever needs it first. */
async function digestKey(db: Queryable): Promise<string> {
  await db.query(sql`
    insert into tidemark.digest_key (key) values (${randomBytes(32).toString("hex")}) on conflict (one) do nothing`);
  const { rows } = await db.query<{ key: string }>(sql`select key from tidemark.digest_key`);
  return rows[0]!.key;
}

async function readKnown(db: Queryable, host: string): Promise<Known[]> {
  const { rows } = await db.query<Known>(sql`
    select digest, account, coalesce(revoked_at > tidemark.now() - ${REVOKED_HOURS}::int * interval '1 hour', false) as revoked
      from tidemark.credential where host = ${host}`);
  return rows;
}

async function rememberAccount(db: Queryable, host: string, digest: string, account: string): Promise<void> {
  await db.query(sql`
    insert into tidemark.credential (host, digest, account) values (${host}, ${digest}, ${account})
    on conflict (host, digest) do update set account = excluded.account, revoked_at = null, seen_at = tidemark.now()`);
}

/** False when it was known already. */
async function rememberRevoked(db: Queryable, host: string, digest: string): Promise<boolean> {
  const { count } = await db.query(sql`
    insert into tidemark.credential as c (host, digest, revoked_at) values (${host}, ${digest}, tidemark.now())
    on conflict (host, digest) do update set revoked_at = tidemark.now()
     where c.revoked_at is null or c.revoked_at <= tidemark.now() - ${REVOKED_HOURS}::int * interval '1 hour'`);
  return count > 0;
}
