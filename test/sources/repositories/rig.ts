/** A pretend git host with real repositories, the mirror of what is found in them, and the answers that people get. */
import { Hono } from "hono";
import { answerGit } from "../../../src/demo/git/backend.ts";
import { type Commit, type Files, GitHost } from "../../../src/demo/git/host.ts";
import { touch, Views } from "../../../src/engine/views.ts";
import { type Context, follow, type Source } from "../../../src/index.ts";
import { answerError } from "../../../src/server/answers.ts";
import { analyse } from "../../../src/sources/repositories/analyse.ts";
import { ObjectStore } from "../../../src/sources/repositories/git.ts";
import { repositories } from "../../../src/sources/repositories/source.ts";
import { analyses, repositories as seen } from "../../../src/sources/repositories/tables.ts";
import { type VirtualClock, wall_ms } from "../../../src/testing/virtual-clock.ts";
import type { TestStore } from "../../postgres.ts";
import { SourceRig } from "../source-rig.ts";

export const migrations = () => [{ owner: "repositories", steps: repositories().migrations!.steps }];

export const HOST = "git.example";
export const BROWSER = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0";

/** The source as tests have it: its clock stands still while git works, and no process is started for each analysis unless said. */
export function unhurried(clock: VirtualClock, own: Record<string, string>, apart = false): Source {
  const source = repositories({
    aside: (work) => clock.during(work),
    ...(apart
      ? {}
      : {
          analyse: ({ folder, commit, files_max }, signal) =>
            analyse(new ObjectStore(folder, signal), commit, files_max),
        }),
  });
  source.configure!(source.settings!.parse({ hosts: HOST, ...own }), { github_url: null });
  return source;
}

export class RepositoryRig extends SourceRig {
  host!: GitHost;
  /** Called when somebody is about to be sent objects. */
  onObjects: () => void = () => undefined;
  views!: Views;
  #app = new Hono();

  constructor({ db }: Pick<TestStore, "db">) {
    super(db);
  }

  /** `apart`: each analysis in a process of its own, as it is for everybody else. */
  async reset(own: Record<string, string> = {}, apart = false): Promise<GitHost> {
    await this.begin([seen, analyses]);
    const host = await GitHost.open();
    this.host = host;
    const source = unhurried(this.clock, {}, apart);
    await this.open(
      ({ method, path, query, headers, body }) => {
        if (body.includes("command=fetch")) this.onObjects();
        return answerGit(host, { method, path, query: query.toString(), headers, body });
      },
      () => source,
    );
    const reached_at = `${HOST}=${this.upstream.url}`;
    source.configure!(source.settings!.parse({ hosts: HOST, reached_at, ...own }), { github_url: null });
    this.#serve();
    return host;
  }

  #serve(): void {
    const { db, clock, lanes, source, events } = this;
    const kind = (_: string, name: string) => source.kinds[name] ?? null;
    this.views = new Views({
      db,
      clock,
      kind,
      park_after: 8,
      cool_off_ms: 86_400_000,
      wake: () => undefined,
      surprise: (thrown) => {
        throw thrown;
      },
    });
    const context: Partial<Context> = {
      read: { query: (statement) => db.query(statement) },
      viewed: (name, ref) => this.views.viewed(name, ref),
      touch: (name, ref) => touch(db, name, ref),
      follow: async (name, text) => void (await follow(db, lanes, name, text)),
    };
    this.#app = new Hono();
    source.routes!(this.#app, context as Context);
    this.#app.onError(answerError(events));
  }

  override async end(): Promise<void> {
    await super.end();
    await this.host.close();
  }

  /** The clock of the pretend world, in seconds. */
  now_s(): number {
    return Math.floor(wall_ms(this.clock) / 1000);
  }

  push(repository: string, files: Files, more: Partial<Commit> = {}): Promise<string> {
    return this.host.push(repository, { files, at_s: this.now_s(), ...more });
  }

  async made(repository: string, files: Files): Promise<string> {
    await this.host.create(repository);
    return this.push(repository, files);
  }

  get(path: string, headers: Record<string, string> = {}, method = "GET"): Promise<Response> {
    return Promise.resolve(this.#app.request(`http://mirror.example/repositories/${path}`, { method, headers }));
  }

  async json<T = Record<string, unknown>>(path: string, headers: Record<string, string> = {}): Promise<T> {
    return (await (await this.get(path, headers)).json()) as T;
  }

  /** As somebody before a browser. */
  look(path: string): Promise<Response> {
    return this.get(path, { "user-agent": BROWSER });
  }

  /** How often the host was asked for refs and for objects since the last time. */
  asked(): { refs: number; objects: number } {
    const log = this.host.log.splice(0);
    return {
      refs: log.filter(({ what }) => what === "refs").length,
      objects: log.filter(({ what }) => what === "objects").length,
    };
  }
}
