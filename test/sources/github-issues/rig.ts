/** What flows of github-issues stand on: the pretend GitHub and the pretend server of embeddings, the mirror, and its answers. */
import { Hono } from "hono";
import sql from "sql-template-tag";
import { Embeddings, type EmbeddingsOptions } from "../../../src/demo/embeddings/server.ts";
import { GitHub, type HubOptions } from "../../../src/demo/github/hub.ts";
import { Upstreams } from "../../../src/engine/upstream.ts";
import { type Context, type FetchRequest, refresh } from "../../../src/index.ts";
import type { HostTokens } from "../../../src/secrets.ts";
import { answerError } from "../../../src/server/answers.ts";
import { type Provider, serverProvider } from "../../../src/sources/github-issues/provider.ts";
import { settings } from "../../../src/sources/github-issues/settings.ts";
import { type GitHubIssuesOptions, githubIssues } from "../../../src/sources/github-issues/source.ts";
import { comments, issues, labels, migrations, repositories } from "../../../src/sources/github-issues/tables.ts";
import { EPOCH } from "../../../src/testing/virtual-clock.ts";
import { asCall } from "../go-modules/rig.ts";
import { SourceRig } from "../source-rig.ts";

export const all_migrations = () => [{ owner: "github-issues", steps: migrations.steps }];

export const all_tables = [
  repositories,
  issues,
  comments,
  labels,
  ...["passage", "generation", "vector", "unembedded"].map((name) => ({ name: `github_issues.${name}` })),
];

export interface Given extends GitHubIssuesOptions {
  hub?: HubOptions;
  tokens?: HostTokens;
  /** Null where nothing embeds. */
  embeddings?: EmbeddingsOptions | null;
  model?: string;
  settings?: Record<string, string>;
}

export interface Result {
  repository: string;
  number: number;
  title: string;
  score: number;
  snippet: string;
  state: string;
  labels: string[];
  comments: number;
  reactions: number;
  score_parts: { words: number | null; meaning: number | null; exact: boolean };
}

export interface Answer {
  results: Result[];
  next: string | null;
  fresh_at: string | null;
  search_type: string;
  why: string | null;
  error?: { code: string; sentence: string };
}

export class IssueRig extends SourceRig {
  hub!: GitHub;
  embeddings!: Embeddings;
  #app = new Hono();
  #upstreams: Upstreams | null = null;
  #provider: Provider | null = null;

  /** An empty mirror, a new GitHub with one account, and a server of embeddings unless there is to be none. */
  async reset(given: Given = {}): Promise<GitHub> {
    const { hub = {}, tokens, embeddings = {}, model = "hashing", settings: own = {}, ...options } = given;
    await this.begin(all_tables);
    const { clock } = this;
    const wait = (ms: number) => {
      const sleep = clock.sleep(ms);
      return Promise.all([clock.waiting(sleep), clock.waiting(sleep, "call")]).then(() => undefined);
    };
    this.hub = new GitHub({ ...(hub.latency_ms ? { wait } : {}), ...hub });
    this.hub.now_ms = Date.parse(EPOCH) - 86_400_000;
    this.embeddings = new Embeddings({ ...(embeddings?.latency_ms ? { wait } : {}), ...embeddings });
    await this.open(
      (asked) =>
        asked.path.startsWith("/v1/") ? this.embeddings.answer(asCall(asked)) : this.hub.answer(asCall(asked)),
      (url) => {
        const server = { url: `${url}/v1`, key: null, model };
        this.#provider = embeddings === null ? null : serverProvider(server, settings.parse(own));
        return githubIssues({
          github_url: url,
          enterprise_url: () => `${url}/api`,
          provider: this.#provider,
          ...options,
        });
      },
      own,
      tokens ?? { "github.com": [this.hub.account("bot")] },
    );
    this.#serve();
    return this.hub;
  }

  /** The same mirror with another model, as after a restart with other settings. */
  async restart(model: string): Promise<void> {
    await this.stop();
    this.#provider = serverProvider({ url: `${this.upstream.url}/v1`, key: null, model }, settings.parse({}));
    this.source = githubIssues({ github_url: this.upstream.url, provider: this.#provider });
    this.source.configure?.(settings.parse({}), { github_url: null });
    this.#serve();
  }

  #serve(): void {
    this.#app = new Hono();
    const { db, clock, events } = this;
    this.#upstreams = new Upstreams({ db, clock, events, user_agent: "test", allow_private: ["127.0.0.1"] });
    const upstreams = this.#upstreams;
    const context: Context = {
      read: { query: (statement) => db.query(statement) },
      viewed: () => undefined,
      touch: async () => undefined,
      follow: async () => undefined,
      post: async () => false,
      upstream: (name, share) => ({
        fetch: (url, request = {}) => {
          const upstream = this.source.upstreams!.find((one) => one.name === name)!;
          const shared = share === undefined ? {} : { share };
          return upstreams.fetch(upstream, url, { ...request, ...shared }, new AbortController().signal);
        },
      }),
    };
    this.source.routes!(this.#app, context);
    this.#app.onError(answerError(this.events));
    // What nobody foresaw fails the test with its own words.
    this.events.on("surprise", ({ sentence, stack }) => {
      process.stderr.write(`${sentence}\n${stack}\n`);
    });
  }

  override async end(): Promise<void> {
    await this.#upstreams?.close();
    await super.end();
  }

  /** Follows them and lets everything be read and embedded. */
  async read(...names: string[]): Promise<void> {
    for (const name of names) await this.followed(name);
    await this.work();
    await this.settled();
    if (this.#provider) await this.embed();
  }

  /** Lets time pass until every repository was read to its end once, whatever it had to wait for. */
  async settled(): Promise<void> {
    for (let tries = 0; tries < 100; tries += 1) {
      const { rows } = await this.db.query<{ wait_ms: number | null }>(sql`
        select (extract(epoch from min(d.due_at) - (select tidemark.now())) * 1000)::float8 as wait_ms
          from tidemark.due d join tidemark.resource r on r.resource_id = d.resource_id
         where r.kind = 'repository' and d.fresh_at is null and r.gone_at is null`);
      const wait_ms = rows[0]?.wait_ms ?? null;
      if (wait_ms === null) return;
      await this.clock.advance(Math.max(0, Math.ceil(wait_ms)));
      await this.work();
    }
    throw new Error("it was never read to its end");
  }

  /** A sweep of a repository, and whatever it wakes. */
  async swept(key: string): Promise<void> {
    await this.clock.advance(60_000);
    await refresh(this.db, { source: "github-issues", kind: "sweep", key });
    await this.work();
  }

  /** Some minutes pass for a repository: one sync. */
  async synced(key: string): Promise<void> {
    await this.clock.advance(300_000);
    await refresh(this.db, { source: "github-issues", kind: "repository", key });
    await this.work();
  }

  /** Lets a minute pass, for what was written while texts were being embedded. */
  async embed(): Promise<void> {
    await this.clock.advance(70_000);
    await this.work();
  }

  async get<T>(path: string): Promise<T> {
    const response = await this.#app.request(`http://mirror.example${path}`);
    return (await response.json()) as T;
  }

  /** What a search does first: its query's vector, in its share. */
  async embedQuery(text: string): Promise<void> {
    const upstream = this.source.upstreams![0]!;
    const call = (url: string, request: FetchRequest) =>
      this.#upstreams!.fetch(upstream, url, request, new AbortController().signal);
    await this.#provider?.embed([text], "search", call);
  }

  search(q: string, more: Record<string, string> = {}): Promise<Answer> {
    return this.get<Answer>(`/issues/search?${new URLSearchParams({ q, ...more })}`);
  }

  /** What a search finds, as "acme/x#1". */
  async finds(q: string): Promise<string[]> {
    const { results, error } = await this.search(q);
    if (error) throw new Error(error.sentence);
    return results.map(({ repository, number }) => `${repository}#${number}`);
  }

  async numbers(): Promise<number[]> {
    const { rows } = await this.db.query<{ number: number }>(
      sql`select number from github_issues.issue order by resource_id, number`,
    );
    return rows.map(({ number }) => number);
  }

  async issue(number: number): Promise<Record<string, unknown>> {
    const { rows } = await this.db.query<Record<string, unknown>>(sql`
      select number, title, body, state, state_reason, author, comments, comments_after, reactions, updated_at,
             (select count(*)::int from github_issues.comment c where c.resource_id = i.resource_id and c.number = i.number) as stored,
             array(select l.name from github_issues.label l where l.label_id = any(i.label_ids) order by l.name) as labels
        from github_issues.issue i where number = ${number}::int`);
    return rows[0]!;
  }

  /** The names of the budgets that were taken from. */
  async budgets(): Promise<string[]> {
    const { rows } = await this.db.query<{ budget: string }>(sql`select budget from tidemark.budget order by budget`);
    return rows.map(({ budget }) => budget);
  }

  async count(table: "issue" | "comment" | "label" | "passage" | "vector" | "unembedded"): Promise<number> {
    const statements = {
      issue: sql`select count(*)::int as n from github_issues.issue`,
      comment: sql`select count(*)::int as n from github_issues.comment`,
      label: sql`select count(*)::int as n from github_issues.label`,
      passage: sql`select count(*)::int as n from github_issues.passage`,
      vector: sql`select count(*)::int as n from github_issues.vector`,
      unembedded: sql`select count(*)::int as n from github_issues.unembedded`,
    };
    return (await this.db.query<{ n: number }>(statements[table])).rows[0]!.n;
  }
}
