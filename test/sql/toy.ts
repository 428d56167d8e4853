/** A toy source for tests of the engine: what its pulls do is what each test says. */
import { z } from "zod";
import {
  type Batch,
  every,
  feed,
  type Kind,
  kind,
  type Outcome,
  type Pull,
  type Source,
  table,
  type Upstream,
} from "../../src/index.ts";

export const words = table("toy.word", {
  columns: { owner_id: "bigint", word: "text", version: "int", facts: "jsonb" },
  key: ["word"],
  owner: "owner_id",
});

export const entries = table("toy.entry", { columns: { name: "text", version: "text" }, key: ["name", "version"] });
export const news = feed("toy.news", entries);

export const migrations = {
  owner: "toy",
  steps: [
    {
      n: 1,
      name: "toy",
      sql: `create schema toy;
            create table toy.word (owner_id bigint, word text primary key, version int, facts jsonb);
            create table toy.entry (name text, version text, published_at timestamptz not null unique, primary key (name, version));
            create table toy.log (n bigint generated always as identity, key text, seen text)`,
    },
  ],
};

export const cursor = z.object({ at: z.number(), done: z.boolean().default(false) }).default({ at: 0, done: false });
export type ToyCursor = z.infer<typeof cursor>;
export type ToyPull = (pull: Pull<ToyCursor>) => AsyncGenerator<Batch<ToyCursor>, Outcome | undefined>;

export const upstream: Upstream = { name: "toy.example" };

/** A kind whose pull does nothing unless said; hourly unless said. */
export function toyKind(given: Partial<Kind<ToyCursor, unknown>> = {}): Kind {
  return kind<ToyCursor, unknown>({
    upstream,
    schedule: every("1h"),
    cursor,
    // biome-ignore lint/correctness/useYield: a pull that finds nothing new yields nothing
    async *pull() {
      return undefined;
    },
    ...given,
  });
}

/** The source `toy`: text is followed as `kind:key`, or as the key of the first kind. */
export function toySource(kinds: Record<string, Kind>, name = "toy"): Source {
  return {
    name,
    kinds,
    follow(text) {
      const [left, ...rest] = text.split(":");
      if (rest.length === 0) return { kind: Object.keys(kinds)[0]!, key: text };
      return left! in kinds ? { kind: left!, key: rest.join(":") } : `there is no kind "${left}"`;
    },
  };
}
