/** Tokens that calls are made with: bound to hosts, pooled by the account behind them, dropped when an upstream refuses one. */
import { createHmac, randomBytes } from "node:crypto";
import sql from "sql-template-tag";
import type { Clock } from "../clock.ts";
import type { Answer, Upstream, UpstreamCredentials } from "../contract.ts";
import { hasCode, TidemarkError } from "../errors.ts";
import type { Events } from "../events.ts";
import type { HostTokens } from "../secrets.ts";
import type { Db, Queryable } from "../store/db.ts";

/** How long what the database says of tokens is believed. */
const BELIEVE_MS = 30_000;
/** A refused token is tried again after an hour: a person may have given it back its rights, or its upstream was mistaken. */
const REVOKED_HOURS = 1;
/** A token that no process named for so long is nobody's any more; each names those that it uses often enough. */
const USED_MINUTES = 15;
/** Whoever is behind tokens that do not say: they may all be one, so they share one quota. */
const UNKNOWN = "unknown";

export interface Credential {
  /** Who is behind the token; a name made of its digest where each token is its own account. */
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
  readonly #unlearned = new Map<string, { at_ms: number; why: TidemarkError }>();
  #key: Promise<string> | null = null;

  constructor(parts: CredentialParts) {
    this.#parts = parts;
  }

  /**
   * The tokens for a call, one for each account; null where calls to it are made without one. Throws UpstreamBusy where there are
   * only some of which it cannot be learned now whose they are.
   */
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
    const digests = tokens.map((token) => digestOf(key, host, token));
    await rememberUsed(db, host, digests);
    const known = new Map((await readKnown(db, host)).map((row) => [row.digest, row]));
    const byAccount = new Map<string, Credential>();
    let unlearned: TidemarkError | null = null;
    for (const [i, token] of tokens.entries()) {
      const digest = digests[i]!;
      const row = known.get(digest);
      if (row?.revoked) continue;
      const header = declared.header?.(token) ?? { authorization: `Bearer ${token}` };
      const account = row?.account ?? (await this.#learn(declared, host, digest, header, ask));
      if (account instanceof TidemarkError) unlearned ??= account;
      // Two tokens of one account share its quota: one of them is enough.
      else if (account !== null && !byAccount.has(account)) byAccount.set(account, { account, digest, header });
    }
    if (byAccount.size === 0 && unlearned) throw unlearned;
    return [...byAccount.values()];
  }

  /**
   * Whose token it is, by asking. Null when the token is refused. While asking fails it is not used: it may be another token of an account that
   * we have, and would spend that one's quota a second time. Where the upstream never says, all such tokens count as one account.
   */
  async #learn(
    declared: UpstreamCredentials,
    host: string,
    digest: string,
    header: Record<string, string>,
    ask: AskWith,
  ): Promise<string | TidemarkError | null> {
    const { db, clock } = this.#parts;
    const own = `token-${digest.slice(0, 8)}`;
    if (!declared.account) return own;
    const failed = this.#unlearned.get(digest);
    if (failed && clock.elapsed_ms() - failed.at_ms < BELIEVE_MS) return failed.why;
    try {
      const account = await declared.account((url) => ask(url, header));
      await rememberAccount(db, host, digest, account);
      return account;
    } catch (thrown) {
      if (hasCode(thrown, "UpstreamForbids")) {
        await this.#revoke(host, { account: own, digest });
        return null;
      }
      if (!(thrown instanceof TidemarkError) || thrown.code === "UpstreamChanged") return UNKNOWN;
      const why = new TidemarkError(
        "UpstreamBusy",
        `Whose the tokens for ${host} are could not be asked, so that they are not used yet: ${thrown.message}`,
        { wait_ms: Math.max(thrown.wait_ms ?? 0, BELIEVE_MS) },
      );
      this.#unlearned.set(digest, { at_ms: clock.elapsed_ms(), why });
      return why;
    }
  }

  /**
   * Whether a token that was refused is good all the same, because the upstream still says whose it is: then what was asked for is at
   * fault. Otherwise it drops out, for every worker.
   */
  async isGood(
    declared: UpstreamCredentials,
    credential: Credential,
    ask: (url: string) => Promise<Answer>,
  ): Promise<boolean> {
    const asked = await declared.account?.(ask).catch(() => null);
    if (typeof asked === "string") return true;
    await this.#revoke(declared.host.toLowerCase(), credential);
    return false;
  }

  async #revoke(host: string, { account, digest }: Pick<Credential, "account" | "digest">): Promise<void> {
    const { db, events } = this.#parts;
    this.#known.delete(host);
    if (await rememberRevoked(db, host, digest)) events.emit("credential_revoked", { host, account });
  }

  /** Whether a token that another process uses is good, as far as is known. */
  async othersWork(of: string): Promise<boolean> {
    const { db, tokens } = this.#parts;
    const host = of.toLowerCase();
    this.#key ??= digestKey(db);
    const key = await this.#key;
    const mine = (tokens[host] ?? []).map((token) => digestOf(key, host, token));
    return anyoneGood(db, host, mine);
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

/** Says that these are in use; seldom, since nobody minds a few minutes. */
async function rememberUsed(db: Queryable, host: string, digests: string[]): Promise<void> {
  await db.query(sql`
    insert into tidemark.credential as c (host, digest) select distinct ${host}, d from unnest(${digests}::text[]) as d order by d
    on conflict (host, digest) do update set seen_at = tidemark.now()
     where c.seen_at < tidemark.now() - ${USED_MINUTES}::int / 3 * interval '1 minute'`);
}

async function anyoneGood(db: Queryable, host: string, but: string[]): Promise<boolean> {
  const { rows } = await db.query(sql`
    select digest from tidemark.credential
     where host = ${host} and digest <> all(${but}::text[]) and seen_at > tidemark.now() - ${USED_MINUTES}::int * interval '1 minute'
       and (revoked_at is null or revoked_at <= tidemark.now() - ${REVOKED_HOURS}::int * interval '1 hour') limit 1`);
  return rows.length > 0;
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

/** The answer was about the credential: another one may do better. */
export class AnotherCredential extends Error {
  readonly instead: TidemarkError;

  constructor(instead: TidemarkError) {
    super(instead.message);
    this.instead = instead;
  }
}
