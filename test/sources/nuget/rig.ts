/** A pretend NuGet feed, its mirror, and the answers that clients get from it. */
import { Hono } from "hono";
import sql from "sql-template-tag";
import { NuGetFeed } from "../../../src/demo/nuget/feed.ts";
import { Upstreams } from "../../../src/engine/upstream.ts";
import { declaredUpstream } from "../../../src/engine/upstream-declared.ts";
import type { Context, Source } from "../../../src/index.ts";
import { answerError } from "../../../src/server/answers.ts";
import { nuget } from "../../../src/sources/nuget/source.ts";
import { owned_by_feed, owned_by_package } from "../../../src/sources/nuget/tables.ts";
import type { TestStore } from "../../postgres.ts";
import { SourceRig } from "../source-rig.ts";

export const migrations = () => [{ owner: "nuget", steps: nuget().migrations!.steps }];

export class NuGetRig extends SourceRig {
  feed = new NuGetFeed();
  #app = new Hono();
  #upstreams: Upstreams | null = null;

  constructor({ db }: Pick<TestStore, "db">) {
    super(db);
  }

  /** An empty mirror and a feed without commits. */
  async reset(own: Record<string, string> = {}): Promise<NuGetFeed> {
    await this.begin([...owned_by_feed, ...owned_by_package]);
    this.feed = new NuGetFeed();
    const source: Source = nuget();
    await this.open(
      ({ path, headers }) => this.feed.answer(path, headers),
      () => source,
      own,
    );
    this.#app = new Hono();
    const { db } = this;
    const upstreams = new Upstreams({
      db,
      clock: this.clock,
      events: this.events,
      user_agent: "test",
      allow_private: ["127.0.0.1"],
    });
    this.#upstreams = upstreams;
    const context: Partial<Context> = {
      read: { query: (statement) => db.query(statement) },
      upstream: (name) => ({
        fetch: (url, request = {}) =>
          upstreams.fetch(declaredUpstream([source], name), url, request, new AbortController().signal),
      }),
    };
    source.routes!(this.#app, context as Context);
    this.#app.onError(answerError(this.events));
    return this.feed;
  }

  override async end(): Promise<void> {
    await this.#upstreams?.close();
    await super.end();
  }

  /** Follows the feed and lets everything be read. */
  async read(options: Record<string, unknown> = {}): Promise<void> {
    await this.followed(`${this.upstream.url}/v3/index.json`, options);
    this.start();
    await this.calm();
  }

  /** A poll's time and a little more. */
  async poll(): Promise<void> {
    await this.sweep(90_000);
  }

  get(path: string): Promise<Response> {
    return Promise.resolve(this.#app.request(`http://mirror.example${path}`));
  }

  async json<T = Record<string, unknown>>(path: string): Promise<T> {
    const response = await this.get(path);
    if (response.headers.get("content-encoding") === "gzip") {
      const { gunzipSync } = await import("node:zlib");
      return JSON.parse(gunzipSync(Buffer.from(await response.arrayBuffer())).toString()) as T;
    }
    return (await response.json()) as T;
  }

  /** The versions that a restore sees; none where the package is not there. */
  async versions(id: string): Promise<string[]> {
    const response = await this.get(`/nuget/v3/flatcontainer/${encodeURIComponent(id)}/index.json`);
    return response.status === 404 ? [] : ((await response.json()) as { versions: string[] }).versions;
  }

  cursor(): Promise<{
    internal: string | null;
    public: string | null;
    pending: number;
    skipped: { package: string }[];
  }> {
    return this.json("/nuget/cursor");
  }

  /** How often each oddity was seen. */
  async anomalies(): Promise<Record<string, number>> {
    const { anomalies } = await this.json<{ anomalies: { what: string; times: string }[] }>("/nuget/anomalies");
    return Object.fromEntries(anomalies.map(({ what, times }) => [what, Number(times)]));
  }

  /** The state of everything, to compare two ways to it. */
  async state(): Promise<
    { lower_id: string; version_key: string; stamp: string; deleted: boolean; listed: boolean }[]
  > {
    const { rows } = await this.db.query<Awaited<ReturnType<NuGetRig["state"]>>[number]>(sql`
      select lower_id, version_key, stamp, deleted, listed from nuget.version order by lower_id, version_key`);
    return rows;
  }
}
