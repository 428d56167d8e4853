/** A client of the index that works as pkgsite's does: its own table is all it remembers, and the newest stamp in it is its cursor. */
import sql from "sql-template-tag";
import { isModulePath } from "../../../src/sources/go-modules/module-path.ts";
import { parseSemver } from "../../../src/sources/go-modules/semver.ts";
import type { Db } from "../../../src/store/db.ts";
import { type Line, linesOf } from "./index-rig.ts";

/** pkgsite asks for so many unless told otherwise, … */
const LIMIT = 10;
/** … and writes so many rows in one statement. */
const ROWS_MOST = 125;

export class Poller {
  readonly #db: Db;
  readonly #get: (path: string) => Promise<Response>;
  readonly #limit: number;
  /** How often each version came as news: not as the last entry of the page before, which inclusive reading repeats. */
  readonly news = new Map<string, number>();

  constructor(db: Db, get: (path: string) => Promise<Response>, limit = LIMIT) {
    this.#db = db;
    this.#get = get;
    this.#limit = limit;
  }

  /** Its table, empty. */
  async open(): Promise<this> {
    await this.#db.query(sql`create schema if not exists pkgsite`);
    await this.#db.query(sql`
      create table if not exists pkgsite.state (module_path text, version text, index_timestamp timestamptz not null, primary key (module_path, version))`);
    await this.#db.query(sql`truncate pkgsite.state`);
    return this;
  }

  /** The newest stamp that it has seen, written as Go writes it. */
  async cursor(): Promise<string> {
    const { rows } = await this.#db.query<{ at: string | null }>(
      sql`select max(index_timestamp) as at from pkgsite.state`,
    );
    return (rows[0]!.at ?? "0001-01-01T00:00:00.000000Z").replace(/\.?0+Z$/, "Z");
  }

  /** One look; how many lines there were. The status is not looked at, and what is no version is dropped. */
  async poll(): Promise<number> {
    const since = await this.cursor();
    const answer = await this.#get(`/go/index?since=${encodeURIComponent(since)}&limit=${this.#limit}`);
    const lines = linesOf(await answer.text());
    const good = lines.filter((line) => parseSemver(line.Version) !== null && isModulePath(line.Path));
    for (const line of good)
      if (line.Timestamp !== since) {
        const name = `${line.Path}@${line.Version}`;
        this.news.set(name, (this.news.get(name) ?? 0) + 1);
      }
    for (let i = 0; i < good.length; i += ROWS_MOST) await this.#upsert(good.slice(i, i + ROWS_MOST));
    return lines.length;
  }

  /** Fails when one (path, version) is in it twice: a row cannot be written twice by one statement. */
  async #upsert(lines: Line[]): Promise<void> {
    await this.#db.query(sql`
      insert into pkgsite.state (module_path, version, index_timestamp)
      select l.path, l.version, l.at from unnest(${lines.map((l) => l.Path)}::text[], ${lines.map((l) => l.Version)}::text[],
        ${lines.map((l) => l.Timestamp)}::timestamptz[]) as l(path, version, at)
      on conflict (module_path, version) do update set index_timestamp = excluded.index_timestamp`);
  }

  /** Looks until nothing new comes, which is when the cursor stands still; how many looks that took. */
  async toEnd(): Promise<number> {
    for (let looks = 1; ; looks += 1) {
      const before = await this.cursor();
      await this.poll();
      if ((await this.cursor()) === before) return looks;
    }
  }

  async seen(): Promise<string[]> {
    const { rows } = await this.#db.query<{ name: string }>(sql`
      select module_path || '@' || version as name from pkgsite.state order by index_timestamp`);
    return rows.map(({ name }) => name);
  }
}
