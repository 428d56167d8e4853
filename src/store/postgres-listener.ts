/** Hears notifications over a connection of its own, which it makes anew whenever it is lost. */
import pg from "pg";
import { realClock } from "../clock.ts";
import { TidemarkError } from "../errors.ts";
import { asStoreError, isConnectionFailure } from "./postgres-failure.ts";
import { Turns } from "./turns.ts";

type Heard = (payload: string) => void;

const backoff_ms_min = 100;
const backoff_ms_max = 5000;

export class Listener {
  readonly #config: pg.ClientConfig;
  readonly #channels = new Map<string, Set<Heard>>();
  readonly #closed = new AbortController();
  /** One statement at a time: a client that is busy is not to be asked. */
  readonly #turns = new Turns();
  /** The connection, or the attempt at one that is under way; none while nobody listens. */
  #client: Promise<pg.Client> | undefined;

  constructor(config: pg.ClientConfig) {
    this.#config = config;
  }

  /** Fails when the first connection fails; later losses are ridden out. */
  async listen(channel: string, heard: Heard): Promise<() => Promise<void>> {
    const all = this.#channels.get(channel) ?? new Set();
    this.#channels.set(channel, all);
    // A function of its own for each call, so that the same `heard` may listen twice.
    const own: Heard = (payload) => heard(payload);
    all.add(own);
    try {
      this.#client ??= this.#connect();
      await this.#subscribe(channel);
    } catch (error) {
      await this.#forget(channel, own);
      throw asStoreError(error);
    }
    return () => this.#forget(channel, own);
  }

  async close(): Promise<void> {
    this.#closed.abort();
    this.#channels.clear();
    await this.#disconnect();
  }

  /** Goes on when the connection is lost meanwhile: the reconnection listens to every channel. */
  async #subscribe(channel: string): Promise<void> {
    const client = await this.#client;
    const done = await this.#turns.enter();
    try {
      await client?.query(`listen ${pg.escapeIdentifier(channel)}`);
    } catch (error) {
      if (!isConnectionFailure(error)) throw error;
      await this.#client;
    } finally {
      done();
    }
  }

  async #connect(): Promise<pg.Client> {
    if (this.#closed.signal.aborted) throw new TidemarkError("StoreDown", "The database was closed by this process.");
    const client = new pg.Client(this.#config);
    client.on("error", () => {});
    try {
      await client.connect();
      for (const channel of this.#channels.keys()) await client.query(`listen ${pg.escapeIdentifier(channel)}`);
    } catch (error) {
      await client.end().catch(() => {});
      throw error;
    }
    client.on("notification", ({ channel, payload }) => {
      for (const heard of this.#channels.get(channel) ?? []) heard(payload ?? "");
    });
    client.once("end", () => this.#lost(client));
    return client;
  }

  /** Somebody still listens: connect again, and tell everyone, since something may have been missed. */
  async #lost(client: pg.Client): Promise<void> {
    const current = this.#client;
    if (current === undefined || (await current.catch(() => undefined)) !== client || this.#client !== current) return;
    this.#client = this.#reconnect();
    await this.#client.then(
      () => {
        for (const all of [...this.#channels.values()]) for (const heard of [...all]) heard("");
      },
      // The attempts end only when nobody listens any more.
      () => {},
    );
  }

  async #reconnect(): Promise<pg.Client> {
    for (let wait_ms = backoff_ms_min; ; wait_ms = Math.min(wait_ms * 2, backoff_ms_max)) {
      try {
        return await this.#connect();
      } catch (error) {
        if (this.#closed.signal.aborted || this.#channels.size === 0) throw error;
        await realClock.sleep(wait_ms, this.#closed.signal);
      }
    }
  }

  async #forget(channel: string, heard: Heard): Promise<void> {
    const all = this.#channels.get(channel);
    if (!all?.delete(heard) || all.size > 0) return;
    this.#channels.delete(channel);
    if (this.#channels.size === 0) return this.#disconnect();
    const client = await this.#client?.catch(() => undefined);
    const done = await this.#turns.enter();
    // Somebody may have begun to listen meanwhile, and must not be made deaf.
    if (!this.#channels.has(channel)) await client?.query(`unlisten ${pg.escapeIdentifier(channel)}`).catch(() => {});
    done();
  }

  async #disconnect(): Promise<void> {
    const leaving = this.#client;
    this.#client = undefined;
    const client = await leaving?.catch(() => undefined);
    await client?.end().catch(() => {});
  }
}
