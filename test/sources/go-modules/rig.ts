/** What flows of go-modules stand on: the pretend GitHub, and its mirror. */
import sql from "sql-template-tag";
import { type Call, GitHub, type HubOptions } from "../../../src/demo/github/hub.ts";
import { unfollow } from "../../../src/engine/verbs.ts";
import type { HostTokens } from "../../../src/secrets.ts";
import { type GoModulesOptions, goModules } from "../../../src/sources/go-modules/source.ts";
import { owned } from "../../../src/sources/go-modules/tables.ts";
import type { Asked } from "../../../src/testing/upstream.ts";
import { EPOCH } from "../../../src/testing/virtual-clock.ts";
import { SourceRig } from "../source-rig.ts";

/** Every table of the source, for what empties them. */
export const all_tables = [...owned, { name: "go_modules.version" }];

/** A call as it arrives at a pretend upstream, as the pretend GitHub wants it. */
export const asCall = ({ at_ms, method, path, headers, body }: Asked): Call => ({
  at_ms: Date.parse(EPOCH) + at_ms,
  method,
  path,
  headers,
  body,
});

export interface Version {
  path: string;
  version: string;
  tag: string;
  commit_oid: string;
  published_at: string;
  deleted: boolean;
  moved_oid: string | null;
}

export interface Given extends GoModulesOptions {
  hub?: HubOptions;
  tokens?: HostTokens;
  /** The source's own settings. */
  settings?: Record<string, string>;
}

export class GoRig extends SourceRig {
  hub!: GitHub;

  /** An empty database, a new GitHub, and one account with a token unless others are given. */
  async reset({ hub = {}, tokens, settings: own = {}, ...options }: Given = {}): Promise<GitHub> {
    await this.begin(all_tables);
    const { clock } = this;
    const wait = (ms: number) => {
      const sleep = clock.sleep(ms);
      return Promise.all([clock.waiting(sleep), clock.waiting(sleep, "call")]).then(() => undefined);
    };
    this.hub = new GitHub({ ...(hub.latency_ms ? { wait } : {}), ...hub });
    this.hub.now_ms = Date.parse(EPOCH);
    await this.open(
      (asked) => this.hub.answer(asCall(asked)),
      (url) => goModules({ github_url: url, enterprise_url: () => `${url}/api`, ...options }),
      own,
      tokens ?? { "github.com": [this.hub.account("bot")] },
    );
    return this.hub;
  }

  followEvery(text: string, every: string): Promise<void> {
    return this.followed(text, { every });
  }

  async follow(...texts: string[]): Promise<void> {
    for (const text of texts) await this.followed(text);
  }

  async unfollow(kind: string, key: string): Promise<void> {
    await unfollow(this.db, { source: "go-modules", kind, key });
  }

  /** All versions by their names; what is deleted is among them unless it is not wanted. */
  async feed(available = false): Promise<Version[]> {
    const { rows } = await this.db.query<Version>(sql`
      select path, version, tag, commit_oid, published_at, deleted_at is not null as deleted, moved_oid
        from go_modules.version where not ${available} or deleted_at is null order by path, version`);
    return rows;
  }

  /** The same in short: "path@version". */
  async names(available = true): Promise<string[]> {
    return (await this.feed(available)).map(({ path, version }) => `${path}@${version}`);
  }

  /** What was published last. */
  async newest(): Promise<string | undefined> {
    const all = (await this.feed()).sort((a, b) => (a.published_at < b.published_at ? -1 : 1));
    return all.map(({ path, version }) => `${path}@${version}`).at(-1);
  }

  async count(table: "repository" | "tag" | "gomod" | "module" | "seen" | "conflict"): Promise<number> {
    const statements = {
      repository: sql`select count(*)::int as n from go_modules.repository`,
      tag: sql`select count(*)::int as n from go_modules.tag`,
      gomod: sql`select count(*)::int as n from go_modules.gomod`,
      module: sql`select count(*)::int as n from go_modules.module`,
      seen: sql`select count(*)::int as n from go_modules.seen`,
      conflict: sql`select count(*)::int as n from go_modules.conflict`,
    };
    return (await this.db.query<{ n: number }>(statements[table])).rows[0]!.n;
  }

  /** Every go.mod that GitHub was asked for, as "id commit:path". */
  filesAsked(): string[] {
    return this.hub.calls.flatMap(({ variables }) =>
      Object.entries(variables)
        .filter(([name]) => /^e\d+$/.test(name))
        .map(([name, expression]) => `${variables[`i${name.slice(1)}`]} ${expression}`),
    );
  }
}

/** A module's go.mod, as files of a commit. */
export const gomod = (path: string, at = "go.mod") => ({ [at]: `module ${path}\n\ngo 1.24\n` });
