/** A server without a port on a database of its own, for tests of the HTTP API. */
import { Upstreams } from "../../src/engine/upstream.ts";
import { Views } from "../../src/engine/views.ts";
import type { Source } from "../../src/index.ts";
import { createApp } from "../../src/server/app.ts";
import { Metrics } from "../../src/server/metrics.ts";
import type { ServerParts } from "../../src/server/parts.ts";
import { testDatabase } from "../postgres.ts";
import { Rig, settings } from "../sql/rig.ts";

export const json = { "content-type": "application/json" };

export class ServerRig {
  readonly rig: Rig;
  parts!: ServerParts;
  app!: ReturnType<typeof createApp>;
  stopping = new AbortController();

  private constructor(rig: Rig) {
    this.rig = rig;
  }

  static async open(): Promise<ServerRig> {
    return new ServerRig(await Rig.open(testDatabase));
  }

  /** An empty database and a new server. */
  async reset(source: Source): Promise<void> {
    await this.rig.reset(source);
    this.stopping = new AbortController();
    const { db, clock, events, lanes, sources, surprises } = this.rig;
    const { park_after, cool_off_ms } = settings;
    const wake = () => {};
    const kind = (name: string, of: string) => sources.find((one) => one.name === name)?.kinds[of] ?? null;
    const surprise = (thrown: unknown) => surprises.push(String(thrown));
    this.parts = {
      db,
      read: { query: (statement) => db.transaction((tx) => tx.query(statement), { read_only: true }) },
      clock,
      events,
      lanes,
      upstreams: new Upstreams({ db, clock, events, user_agent: "test", allow_private: ["127.0.0.1"] }),
      views: new Views({ db, clock, wake, kind, park_after, cool_off_ms, surprise }),
      metrics: new Metrics(events),
      settings: { host: "127.0.0.1", admin_token: null, read_token: null },
      version: "1.2.3",
      checkSchema: async () => {},
      wake,
      stopping: this.stopping.signal,
    };
    this.app = createApp(this.parts);
  }

  async end(): Promise<void> {
    this.stopping.abort();
    await this.parts.upstreams.close();
    await this.rig.end();
  }

  async get(path: string, headers: Record<string, string> = {}): Promise<Response> {
    return this.app.request(`http://localhost${path}`, { headers });
  }

  async post(path: string, body: unknown = {}): Promise<Response> {
    return this.app.request(`http://localhost${path}`, { method: "POST", headers: json, body: JSON.stringify(body) });
  }

  follow(key: string, more = {}): Promise<Response> {
    return this.post("/api/follow", { source: "toy", key, ...more });
  }

  /** Lets a worker pull all that is due. */
  async pulled(): Promise<void> {
    const worker = this.rig.start();
    await this.rig.calm();
    await this.rig.clock.advance(10_000);
    await this.rig.stop(worker);
  }
}
