/** Deliberate breakages, of the engine and of what stands on it, each of which some test must notice. */
import { pitfalls as issue_pitfalls } from "../sources/github-issues/pitfalls.ts";
import { pitfalls } from "../sources/go-modules/pitfalls.ts";
import { pitfalls as nuget_pitfalls } from "../sources/nuget/pitfalls.ts";
import { pitfalls as repository_pitfalls } from "../sources/repositories/pitfalls.ts";
import { web_pitfalls } from "../sources/web/pitfalls.ts";
import { manners } from "./manners.ts";
import type { Mutant } from "./mutant.ts";

const simulation = ["test/simulation/simulation.test.ts"];

export const mutants: Mutant[] = [
  {
    name: "the fence is removed",
    edits: [
      {
        file: "src/engine/commit.ts",
        find: "return lock?.alive === true && lock.lease_no === u.lease.lease_no;",
        replace: "return lock !== undefined;",
      },
    ],
    tests: simulation,
  },
  {
    name: "the cursor is saved outside the commit",
    edits: [
      {
        file: "src/engine/ends.ts",
        find: "cursor: moved ? cursor : null,",
        replace: "cursor: null,",
      },
      {
        file: "src/engine/committer.ts",
        find: "const rows = results.reduce((n, r) => n + r.changed, 0);",
        replace: `const rows = results.reduce((n, r) => n + r.changed, 0);
      for (const { unit } of waiting)
        if (unit.batch?.cursor !== undefined)
          await db.query(sql\`update tidemark.resource set cursor = \${JSON.stringify(unit.batch.cursor)}::jsonb
                               where resource_id = \${unit.lease.resource_id}\`);`,
      },
      {
        file: "src/engine/committer.ts",
        find: 'import type { Clock } from "../clock.ts";',
        replace: 'import sql from "sql-template-tag";\nimport type { Clock } from "../clock.ts";',
      },
    ],
    tests: simulation,
  },
  {
    name: "the tidemark moves only with the oldest message",
    edits: [
      {
        file: "src/engine/tidemark.ts",
        find: "order by m.position limit 1), x.internal)))",
        replace: "order by m.position limit 1), x.position)))",
      },
    ],
    tests: simulation,
  },
  {
    name: "completion does not ask for the lease number",
    edits: [
      {
        file: "migrations/0004_hot_path.sql",
        find: "d.resource_id = e.resource_id and d.lease_no = e.lease_no\n",
        replace: "d.resource_id = e.resource_id\n",
      },
      {
        file: "migrations/0004_hot_path.sql",
        find: "on d.resource_id = f.resource_id and d.lease_no = f.lease_no",
        replace: "on d.resource_id = f.resource_id",
      },
    ],
    tests: ["test/sql/lease.test.ts"],
  },
  {
    name: "the feed is stamped by the wall clock",
    edits: [
      {
        file: "src/mirror/feed.ts",
        find: "greatest(tidemark.now(), last_at + interval '1 microsecond')",
        replace: "tidemark.now()",
      },
    ],
    tests: simulation,
  },
  {
    name: "coalescing keeps the latest position",
    edits: [
      {
        file: "src/engine/mailbox.ts",
        find: "{ ...p, position: earliest.get(name(p)) ?? null }",
        replace: "p",
      },
    ],
    tests: simulation,
  },
  {
    name: "an expired lease may commit",
    edits: [
      {
        file: "src/engine/resources.ts",
        find: "coalesce(lease_until > tidemark.now(), false) as alive",
        replace: "lease_until is not null as alive",
      },
    ],
    tests: simulation,
  },
  {
    name: "handing back is charged",
    edits: [
      {
        file: "src/engine/lease.ts",
        find: "set lease_until = null, worker_id = null,\n           due_at = greatest(",
        replace: "set lease_until = null, worker_id = null, failures = d.failures + 1,\n           due_at = greatest(",
      },
    ],
    tests: simulation,
  },
  {
    name: "mail that came during a pull wakes nobody",
    edits: [
      {
        file: "migrations/0004_hot_path.sql",
        find: "due_at = greatest(case when wakes and d.mail_seq > e.mail_done then",
        replace: "due_at = greatest(case when false then",
      },
    ],
    tests: simulation,
  },
  {
    name: "leases of the dead are never ended",
    edits: [
      {
        file: "src/engine/holds.ts",
        find: "e.lease_until <= tidemark.now()\n",
        replace: "e.lease_until < '-infinity'\n",
      },
    ],
    tests: simulation,
  },
  {
    name: "a hold is dropped while it lists a lease",
    edits: [
      {
        file: "src/engine/held.ts",
        find: "if (left > 0) this.#holds.set(hold_id, left);",
        replace: "if (left > 0 && this.#over.push(hold_id)) this.#holds.set(hold_id, left);",
      },
    ],
    tests: simulation,
  },
  {
    name: "handled messages are not taken off",
    edits: [
      {
        file: "src/engine/commit.ts",
        find: "await takeOff(tx, handled);",
        replace: "if (handled.length > 1000) await takeOff(tx, handled);",
      },
    ],
    tests: simulation,
  },
  {
    name: "a bounded lane is not counted",
    edits: [
      {
        file: "src/engine/claims.ts",
        find: "Math.min(most, row.fleet! - (await countLive(tx, source, name, upstream)))",
        replace: "Math.min(most, row.fleet! + 2 - (await countLive(tx, source, name, upstream)))",
      },
    ],
    tests: simulation,
  },
  {
    name: "a list of leases that another had locked is looked at no more",
    edits: [{ file: "src/engine/holds.ts", find: "all: come <= looked_at,", replace: "all: come >= looked_at," }],
    tests: ["test/interleavings/holds.test.ts"],
  },
  ...manners,
  ...pitfalls,
  ...nuget_pitfalls,
  ...repository_pitfalls,
  ...issue_pitfalls,
  ...web_pitfalls,
];
