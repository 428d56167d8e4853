/** Pretend web sites, the crawl of them, and the answers that searches get. */
import { Hono } from "hono";
import sql from "sql-template-tag";
import { Sites } from "../../../src/demo/web/sites.ts";
import { postFromOutside } from "../../../src/engine/posting.ts";
import type { Context, WorkerSettings } from "../../../src/index.ts";
import { answerError } from "../../../src/server/answers.ts";
import type { SearchAnswer } from "../../../src/sources/web/answers.ts";
import { web } from "../../../src/sources/web/source.ts";
import { owned_by_host } from "../../../src/sources/web/tables.ts";
import type { TestStore } from "../../postgres.ts";
import { SourceRig } from "../source-rig.ts";

export const migrations = () => [{ owner: "web", steps: web().migrations!.steps }];
/** Numbers and partitions stay: they are given once. */
export const wiped = [...owned_by_host, { name: "web.content" }, { name: "web.search" }];

export interface PageRow {
  path: string;
  status: number;
  failures: number;
  reason: string | null;
  interval_s: number;
  due_in_s: number | null;
  last_fetched: string | null;
  found: boolean;
}

export class WebRig extends SourceRig {
  sites = new Sites();
  /** What happens before each answer. */
  slowly: () => Promise<void> = async () => undefined;
  #app = new Hono();

  constructor({ db }: Pick<TestStore, "db">) {
    super(db);
  }

  /** An empty mirror and no hosts; every host is reached at the pretend server. */
  async reset(own: Record<string, string> = {}): Promise<Sites> {
    await this.begin(wiped);
    this.sites = new Sites();
    this.slowly = async () => undefined;
    const source = web((work) => this.clock.during(work));
    await this.open(
      async ({ path, query, headers, at_ms }) => {
        await this.slowly();
        const search = query.size > 0 ? `?${query}` : "";
        return this.sites.answer({ host: headers.host!, path: `${path}${search}`, headers, at_ms });
      },
      () => source,
    );
    source.configure!(
      source.settings!.parse({ delay: "100ms", apart_by: "domain", reached_at: `*=${this.upstream.url}`, ...own }),
      {} as never,
    );
    this.#app = new Hono();
    const { db } = this;
    const context: Partial<Context> = {
      read: { query: (statement) => db.query(statement) },
      post: (name, given) => postFromOutside(db, this.lanes, name, given),
    };
    source.routes!(this.#app, context as Context);
    this.#app.onError(answerError(this.events));
    return this.sites;
  }

  /** Follows hosts and lets a worker visit all that is due. */
  async crawl(...hosts: string[]): Promise<void> {
    for (const host of hosts) await this.followed(host);
    await this.visit();
  }

  /** A worker, until nothing is due and nobody waits for a turn. */
  async visit(workers = 1, given: Partial<WorkerSettings> = {}): Promise<void> {
    for (let n = 0; n < workers; n += 1) this.start(given);
    await this.clock.until(() => this.#isAtRest(), 24 * 3600_000);
    await this.stop();
  }

  async #isAtRest(): Promise<boolean> {
    const { rows } = await this.db.query<{ n: number }>(sql`
      select count(*)::int as n from tidemark.due
       where lease_until is not null or due_at <= (select tidemark.now())
          or (not_before > (select tidemark.now()) and not_before < (select tidemark.now()) + interval '10 minutes')`);
    return rows[0]!.n === 0;
  }

  /** So much time passes, and all that falls due in it is visited. */
  async pass(ms: number): Promise<void> {
    const end_ms = this.clock.elapsed_ms() + ms;
    for (;;) {
      const { rows } = await this.db.query<{ wait_ms: number | null }>(sql`
        select (extract(epoch from min(due_at) - (select tidemark.now())) * 1000)::float8 as wait_ms from tidemark.due where due_at < 'infinity'`);
      const next_ms = this.clock.elapsed_ms() + Math.max(0, Math.ceil(rows[0]!.wait_ms ?? Number.POSITIVE_INFINITY));
      if (next_ms > end_ms) break;
      await this.clock.advance(next_ms - this.clock.elapsed_ms());
      await this.visit();
    }
    await this.clock.advance(Math.max(0, end_ms - this.clock.elapsed_ms()));
  }

  get(path: string): Promise<Response> {
    return Promise.resolve(this.#app.request(`http://mirror.example${path}`));
  }

  async post(path: string, body: unknown): Promise<Response> {
    const headers = { "content-type": "application/json" };
    return this.#app.request(`http://mirror.example${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  }

  async search(q: string, more = ""): Promise<SearchAnswer> {
    const response = await this.get(`/web/search?q=${encodeURIComponent(q)}${more}`);
    if (response.status !== 200) throw new Error(`${response.status}: ${await response.text()}`);
    return (await response.json()) as SearchAnswer;
  }

  /** The addresses that a search finds. */
  async urls(q: string, more = ""): Promise<string[]> {
    return (await this.search(q, more)).results.map(({ url }) => url);
  }

  async pages(host: string): Promise<Record<string, PageRow>> {
    const { rows } = await this.db.query<PageRow>(sql`
      select g.path, g.status::int as status, g.failures::int as failures, g.reason, g.interval_s, g.last_fetched,
             case when g.next_fetch < 'infinity' then extract(epoch from g.next_fetch - tidemark.now())::float8 end as due_in_s,
             exists (select 1 from web.search s where s.domain64 = g.domain64 and s.page_id = g.page_id) as found
        from web.guestbook g join web.host h on h.host_id = g.host_id where h.host = ${host} order by g.path`);
    return Object.fromEntries(rows.map((row) => [row.path, row]));
  }
}
