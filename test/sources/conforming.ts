/** What the checks that every source must pass are given, whatever the source. */
import { type Source, type Table, table } from "tidemark";
import type { TestOptions, TestStore } from "../postgres.ts";

/** One database for all checks: each run empties it. */
export function opening(store: (options?: TestOptions) => Promise<TestStore>) {
  let shared: Promise<TestStore> | undefined;
  return async (source: Source) => {
    shared ??= store({ migrations: [{ owner: source.name, steps: source.migrations!.steps }] });
    return { db: (await shared).db, close: async () => undefined };
  };
}

/** Which resource gets which number is different in each run: rows are put in order by what is not. */
export const inOrderOf = ({ name, columns, owner }: Table, ...key: string[]): Table =>
  table(name, { columns, key, ...(owner ? { owner } : {}) });
