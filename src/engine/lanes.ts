/** The lanes of the sources this process knows: their rows, their bounds, and where to begin looking in each. */
import sql from "sql-template-tag";
import type { Kind, Lane, Source, Upstream } from "../contract.ts";
import { TidemarkError } from "../errors.ts";
import type { Queryable } from "../store/db.ts";

export type Urgency = "asked" | "routine";

export interface LaneRow {
  lane_id: number;
  source: string;
  name: string;
  upstream: string;
  urgency: Urgency;
  first_come: boolean;
  slots: number | null;
  fleet: number | null;
  /** Both lanes of a pair have one name, under which their slots are counted. */
  pair: string;
}

export interface LaneSpec {
  source: string;
  lane: Lane;
  upstream: Upstream;
}

/** Both lanes of a pair: what people asked for, and what is routine. */
export type LanePair = Record<Urgency, number>;

const pairKey = (source: string, name: string, upstream: string) => `${source}\u0000${name}\u0000${upstream}`;

export class Lanes {
  readonly sources: ReadonlyMap<string, Source>;
  readonly #pairs = new Map<string, LanePair>();
  readonly #rows = new Map<number, LaneRow>();
  readonly #fixed = new Map<Kind, LaneSpec>();
  readonly #known = new WeakMap<LaneSpec, LanePair>();
  readonly #ahead_ms = new Map<string, number>();
  readonly upstreams = new Map<string, Upstream>();

  constructor(sources: Source[]) {
    this.sources = new Map(sources.map((s) => [s.name, s]));
  }

  /** Whether this release has the code for it. */
  knows(source: string, kind: string): boolean {
    return this.sources.get(source)?.kinds[kind] !== undefined;
  }

  kind(source: string, kind: string): Kind {
    const found = this.sources.get(source)?.kinds[kind];
    if (!found) throw new TidemarkError("InputInvalid", `There is no kind "${kind}" in source "${source}" here.`);
    return found;
  }

  /** Which lane a resource belongs to, by its cursor; the same object each time where nothing varies. */
  spec(source: string, kindName: string, key: string, options: Record<string, unknown>, cursor: unknown): LaneSpec {
    const kind = this.kind(source, kindName);
    const fixed = this.#fixed.get(kind);
    if (fixed) return fixed;
    const upstream = typeof kind.upstream === "function" ? kind.upstream(key, options) : kind.upstream;
    const lane = kind.lane?.(cursor) ?? { name: kindName };
    this.upstreams.set(upstream.name, upstream);
    if (kind.together) {
      const schedule = typeof kind.schedule === "function" ? kind.schedule(options) : kind.schedule;
      this.#ahead_ms.set(`${source}\u0000${lane.name}`, (schedule.period_ms ?? 0) / 5);
    }
    const spec = { source, lane, upstream };
    if (!kind.lane && typeof kind.upstream !== "function" && !kind.together) this.#fixed.set(kind, spec);
    return spec;
  }

  /** The pair of rows of a lane that was ensured before. */
  pair(spec: LaneSpec): LanePair {
    const pair = this.#pairs.get(pairKey(spec.source, spec.lane.name, spec.upstream.name));
    if (!pair) throw new TidemarkError("Unexpected", `The lane ${spec.lane.name} of ${spec.source} was not made.`);
    return pair;
  }

  /** The lane's pair of rows, unless it is new or was declared otherwise before. */
  known(spec: LaneSpec): LanePair | undefined {
    const found = this.#known.get(spec);
    if (found) return found;
    const pair = this.#pairs.get(pairKey(spec.source, spec.lane.name, spec.upstream.name));
    if (!pair || !this.#agrees(spec.lane, pair)) return undefined;
    this.#known.set(spec, pair);
    return pair;
  }

  #agrees({ slots, fleet, order }: Lane, pair: LanePair): boolean {
    const row = this.#rows.get(pair.routine);
    return (
      row?.slots === (slots ?? null) && row.fleet === (fleet ?? null) && row.first_come === (order === "first come")
    );
  }

  /** The lane's pair of rows, made if they are new. Not inside a transaction that may roll back. */
  async ensure(db: Queryable, spec: LaneSpec): Promise<LanePair> {
    const known = this.known(spec);
    if (known) return known;
    const { lane, source, upstream } = spec;
    const first_come = lane.order === "first come";
    await db.query(
      sql`insert into tidemark.upstream (upstream) values (${upstream.name}) on conflict (upstream) do nothing`,
    );
    await db.query(sql`
      insert into tidemark.lane (source, name, upstream, urgency, first_come, slots, fleet)
      select ${source}, ${lane.name}, ${upstream.name}, u.urgency, ${first_come}, ${lane.slots ?? null}::int, ${lane.fleet ?? null}::int
        from unnest(array['asked', 'routine']) as u(urgency)
      on conflict (source, name, upstream, urgency) do update
         set first_come = excluded.first_come, slots = excluded.slots, fleet = excluded.fleet
       where (lane.first_come, lane.slots, lane.fleet) is distinct from (excluded.first_come, excluded.slots, excluded.fleet)`);
    await this.load(db);
    const made = this.known(spec);
    if (!made) throw new TidemarkError("Unexpected", `The lane ${lane.name} of ${source} could not be made.`);
    return made;
  }

  /** Brings the lanes in which new resources begin up to date with the code, where they do not depend on a key. */
  async declare(db: Queryable): Promise<void> {
    await this.load(db);
    for (const source of this.sources.values())
      for (const [name, kind] of Object.entries(source.kinds))
        if (typeof kind.upstream !== "function")
          await this.ensure(db, this.spec(source.name, name, "", {}, kind.cursor.parse(undefined)));
  }

  /** Reads the lanes of the known sources. */
  async load(db: Queryable): Promise<void> {
    const { rows } = await db.query<Omit<LaneRow, "pair">>(sql`
      select lane_id, source, name, upstream, urgency, first_come, slots, fleet
        from tidemark.lane where source = any(${[...this.sources.keys()]}::text[])`);
    for (const row of rows) {
      const key = pairKey(row.source, row.name, row.upstream);
      this.#rows.set(row.lane_id, { ...row, pair: key });
      const pair = this.#pairs.get(key) ?? { asked: 0, routine: 0 };
      pair[row.urgency] = row.lane_id;
      this.#pairs.set(key, pair);
    }
  }

  rows(): LaneRow[] {
    return [...this.#rows.values()];
  }

  row(lane_id: number): LaneRow | undefined {
    return this.#rows.get(lane_id);
  }

  /** How many pulls of this lane (both urgencies) may run at once in one worker with `slots` slots. */
  slots(row: LaneRow, slots: number): number {
    return row.slots ?? slots;
  }

  ahead_ms(row: LaneRow): number {
    return this.#ahead_ms.get(`${row.source}\u0000${row.name}`) ?? 0;
  }
}
