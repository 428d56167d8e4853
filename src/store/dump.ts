/** Writes a schema down as SQL that is made to be read, the same from every database with the same migrations. */
import sql from "sql-template-tag";
import type { Db, Tx } from "./db.ts";
import {
  type Attached,
  type Column,
  type Constraint,
  type Made,
  type Relation,
  readColumns,
  readConstraints,
  readFunctions,
  readIndexes,
  readRelations,
  readSchemas,
  readSequences,
  readTriggers,
  readTypes,
} from "./dump-catalogue.ts";

/** pg_dump is not installed everywhere, and its output changes with its version. */
export function dumpSchema(db: Db, schemas: string[]): Promise<string> {
  return db.transaction((tx) => dump(tx, schemas), { read_only: true });
}

async function dump(tx: Tx, schemas: string[]): Promise<string> {
  // PostgreSQL leaves out the schema of whatever is on the path.
  await tx.query(sql`set local search_path to pg_catalog`);
  const before = [
    ...(await readSchemas(tx, schemas)),
    ...(await readTypes(tx, schemas)),
    ...(await readSequences(tx, schemas)),
    ...(await readFunctions(tx, schemas, false)),
  ];
  const relations = await readRelations(tx, schemas);
  const oids = relations.map(({ oid }) => oid);
  const parts: Parts = {
    columns: await readColumns(tx, oids),
    constraints: await readConstraints(tx, oids),
    attached: [...(await readIndexes(tx, oids)), ...(await readTriggers(tx, oids))],
  };
  const after = await readFunctions(tx, schemas, true);
  const paragraphs = [
    ...before.map(withComment),
    ...relations.map((relation) => relationParagraph(relation, parts)),
    ...relations.flatMap((relation) => forwardReferences(relation, parts)),
    ...after.map(withComment),
  ];
  return `${paragraphs.join("\n\n")}\n`;
}

interface Parts {
  columns: Column[];
  constraints: Constraint[];
  attached: Attached[];
}

function withComment({ statement, comment }: Made): string {
  return comment === null ? statement : `${statement}\n${comment}`;
}

function relationParagraph(relation: Relation, parts: Parts): string {
  const ours = <T extends { relation: number }>(all: T[]) => all.filter((part) => part.relation === relation.oid);
  const columns = ours(parts.columns);
  const constraints = ours(parts.constraints);
  const { name, kind } = relation;
  const noun = kind === "v" ? "view" : kind === "m" ? "materialized view" : "table";
  const lines = [kind === "v" || kind === "m" ? viewText(relation, noun) : tableText(relation, columns, constraints)];
  if (relation.comment !== null) lines.push(`comment on ${noun} ${name} is ${relation.comment};`);
  for (const column of columns) {
    if (column.storage !== null && relation.parent === null && noun === "table") {
      lines.push(`alter table ${name} alter column ${column.name} set storage ${column.storage};`);
    }
    if (column.comment !== null) lines.push(`comment on column ${name}.${column.name} is ${column.comment};`);
  }
  for (const { name: constraint, comment } of constraints) {
    if (comment !== null) lines.push(`comment on constraint ${constraint} on ${name} is ${comment};`);
  }
  return [...lines, ...ours(parts.attached).map(withComment)].join("\n");
}

function viewText({ name, options, definition }: Relation, noun: string): string {
  return `create ${noun} ${name}${options === null ? "" : ` with (${options})`} as\n${definition}`;
}

function tableText(relation: Relation, columns: Column[], constraints: Constraint[]): string {
  const inside = [
    // A partition has its parent's columns.
    ...(relation.parent === null ? columns.map(({ name, definition }) => `${name} ${definition}`) : []),
    ...constraints.filter(({ forward }) => !forward).map(({ name, definition }) => `constraint ${name} ${definition}`),
  ];
  const body =
    inside.length === 0 && relation.parent !== null ? "" : ` (\n${inside.map((line) => `  ${line}`).join(",\n")}\n)`;
  const text = [
    `create ${relation.unlogged ? "unlogged " : ""}table ${relation.name}`,
    relation.parent === null ? "" : ` partition of ${relation.parent}`,
    body,
    relation.bound === null ? "" : ` ${relation.bound}`,
    relation.partition_by === null ? "" : ` partition by ${relation.partition_by}`,
    relation.options === null ? "" : ` with (${relation.options})`,
  ];
  return `${text.join("")};`;
}

function forwardReferences(relation: Relation, { constraints }: Parts): string[] {
  return constraints
    .filter((constraint) => constraint.forward && constraint.relation === relation.oid)
    .map(({ name, definition }) => `alter table ${relation.name} add constraint ${name} ${definition};`);
}
