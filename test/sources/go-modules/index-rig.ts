/** What tests of the index stand on: the source's tables, versions put into them as the source does, and its routes without a port. */
import { Hono } from "hono";
import sql from "sql-template-tag";
import { Events } from "../../../src/events.ts";
import { publish } from "../../../src/mirror/feed.ts";
import { answerError } from "../../../src/server/answers.ts";
import { routes } from "../../../src/sources/go-modules/api.ts";
import { migrations, versions } from "../../../src/sources/go-modules/tables.ts";
import type { Db, Queryable } from "../../../src/store/db.ts";
import { wipe } from "../../../src/testing/wipe.ts";
import type { TestOptions, TestStore } from "../../postgres.ts";

export interface Line {
  Path: string;
  Version: string;
  Timestamp: string;
}

const tables = ["repository", "module", "conflict", "version"].map((name) => ({ name: `go_modules.${name}` }));

/** "github.com/acme/x@v1.0.0" as a row of the feed. */
export function entry(name: string) {
  const [path, version] = name.split("@") as [string, string];
  return { path, version, resource_id: 1n, tag: version, commit_oid: `commit of ${name}` };
}

/** In the transaction given: stamped when it commits, in the order of commits. */
export function publishNames(tx: Queryable, names: string[]): Promise<number> {
  return publish(tx, versions, names.map(entry));
}

/** Many names of versions of one module. */
export const many = (path: string, n: number): string[] => Array.from({ length: n }, (_, i) => `${path}@v0.${i}.0`);

export class IndexRig<Store extends TestStore = TestStore> {
  readonly store: Store;
  readonly app = new Hono();
  /** Statements that the routes ran. */
  reads = 0;

  private constructor(store: Store) {
    this.store = store;
    this.app.onError(answerError(new Events()));
    const read: Queryable = {
      query: (statement) => {
        this.reads += 1;
        return this.db.transaction((tx) => tx.query(statement), { read_only: true });
      },
    };
    routes(this.app, { read });
  }

  static async open<S extends TestStore>(open: (options: TestOptions) => Promise<S>, max = 12): Promise<IndexRig<S>> {
    return new IndexRig(await open({ migrations: [{ owner: "go-modules", ...migrations }], max }));
  }

  get db(): Db {
    return this.store.db;
  }

  reset(): Promise<void> {
    return wipe(this.db, tables);
  }

  publish(...names: string[]): Promise<number> {
    return this.db.transaction((tx) => publishNames(tx, names));
  }

  /** As the source marks versions whose tag is no longer there. */
  async remove(path: string): Promise<void> {
    await this.db.query(sql`update go_modules.version set deleted_at = tidemark.now() where path = ${path}`);
  }

  get(path: string, init: RequestInit = {}): Promise<Response> {
    return Promise.resolve(this.app.request(`http://localhost${path}`, init));
  }

  async json<T>(path: string): Promise<T> {
    return (await (await this.get(path)).json()) as T;
  }

  /** The lines that a query gives. */
  async lines(query = ""): Promise<Line[]> {
    const answer = await this.get(`/go/index${query}`);
    if (answer.status !== 200) throw new Error(`${answer.status}: ${await answer.text()}`);
    return linesOf(await answer.text());
  }

  /** … in short. */
  async names(query = ""): Promise<string[]> {
    return (await this.lines(query)).map((line) => `${line.Path}@${line.Version}`);
  }
}

export function linesOf(text: string): Line[] {
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Line);
}
