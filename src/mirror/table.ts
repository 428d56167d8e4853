/** A source's table: many rows put or dropped in one statement that writes only what changed. */
import { join, Sql } from "sql-template-tag";
import { TidemarkError } from "../errors.ts";
import type { Tx } from "../store/db.ts";

export type ColumnType =
  | "text"
  | "bigint"
  | "int"
  | "smallint"
  | "real"
  | "double precision"
  | "boolean"
  | "timestamptz"
  | "jsonb"
  | "bytea"
  | "uuid"
  | "numeric"
  | "text[]"
  | "bigint[]"
  | "int[]"
  | "real[]";

export type Row = Record<string, unknown>;

export interface Put {
  table: Table;
  rows: Row[];
}

export interface Drop {
  table: Table;
  keys: Row[];
}

export interface TableOptions {
  columns: Record<string, ColumnType>;
  key: string[];
  /** The column that holds the resource_id that owns the row. */
  owner?: string;
  /** A row is replaced only by one whose value here is at least as great: late answers do not overwrite newer ones. */
  newer?: string;
}

const NAME = /^[a-z_][a-z0-9_]*(\.[a-z_][a-z0-9_]*)?$/;

export class Table {
  readonly name: string;
  readonly columns: Record<string, ColumnType>;
  readonly key: string[];
  readonly owner?: string;
  readonly newer?: string;

  constructor(name: string, options: TableOptions) {
    const names = [name, ...Object.keys(options.columns)];
    const odd = names.find((n) => !NAME.test(n));
    if (odd !== undefined) throw new TidemarkError("BatchInvalid", `"${odd}" is not a plain lower-case SQL name.`);
    const missing = [...options.key, options.owner, options.newer].find((c) => c && !options.columns[c]);
    if (missing) throw new TidemarkError("BatchInvalid", `Table ${name} declares no column "${missing}".`);
    this.name = name;
    this.columns = options.columns;
    this.key = options.key;
    if (options.owner) this.owner = options.owner;
    if (options.newer) this.newer = options.newer;
  }

  rows(rows: Row[]): Put {
    return { table: this, rows };
  }

  keys(keys: Row[]): Drop {
    return { table: this, keys };
  }
}

export function table(name: string, options: TableOptions): Table {
  return new Table(name, options);
}

/** One row a key, the last one given; sorted by key, so that two writers lock rows in one order. */
export function lastByKey(t: Table, rows: Row[]): Row[] {
  const last = new Map<string, Row>();
  for (const row of rows) last.set(keyText(t, row), row);
  return [...last.entries()].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)).map(([, row]) => row);
}

function keyText(t: Table, row: Row): string {
  let text = "";
  for (const column of t.key) {
    const value = row[column];
    if (value === undefined || value === null)
      throw new TidemarkError("BatchInvalid", `A row for ${t.name} lacks its key column "${column}".`);
    text += `${String(value)}\u0000`;
  }
  return text;
}

/** `select a, b from unnest($1::text[], …)`: the rows as one parameter a column. */
export function unnest(t: Table, columns: string[], rows: Row[]): Sql {
  const arrays = columns.map((column) => {
    const type = t.columns[column]!;
    const cast = type.endsWith("[]") ? "text" : type;
    const values = rows.map((row) => encode(type, row[column]));
    return new Sql(["", `::${cast}[]`], [values]);
  });
  const picked = columns.map((c) => (t.columns[c]!.endsWith("[]") ? `u.${c}::${t.columns[c]}` : `u.${c}`)).join(", ");
  return new Sql([`select ${picked} from unnest(`, `) as u(${columns.join(", ")})`], [join(arrays)]);
}

/** PostgreSQL has no NUL in text, and lone surrogates are not UTF-8: both become the replacement character. */
export function cleanText(text: string): string {
  const whole = text.isWellFormed() ? text : text.toWellFormed();
  return whole.includes("\u0000") ? whole.replaceAll("\u0000", "\ufffd") : whole;
}

function encode(type: ColumnType, value: unknown): unknown {
  if (value === undefined || value === null) return null;
  if (type === "jsonb") return toJson(value);
  if (type === "text") return cleanText(String(value));
  if (type === "bytea") return `\\x${Buffer.from(value as Uint8Array).toString("hex")}`;
  if (type.endsWith("[]")) return arrayLiteral(value as unknown[]);
  return typeof value === "bigint" || typeof value === "number" ? String(value) : value;
}

function arrayLiteral(values: unknown[]): string {
  const quoted = values.map((v) =>
    v === null || v === undefined
      ? "null"
      : `"${cleanText(String(v)).replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`,
  );
  return `{${quoted.join(",")}}`;
}

/** JSON in which 64-bit numbers are text, so that no reader bends them, and all text is such as PostgreSQL can hold. */
export function toJson(value: unknown): string {
  const json = JSON.stringify(value, (_key, v) => (typeof v === "bigint" ? v.toString() : v));
  // Escapes of NUL and of half characters: rare, and only then is everything gone through again.
  return json !== undefined && UNSTORABLE.test(json) ? JSON.stringify(cleanValue(JSON.parse(json))) : json;
}

const UNSTORABLE = /\\u(0000|d[89a-f])/;

function cleanValue(value: unknown): unknown {
  if (typeof value === "string") return cleanText(value);
  if (Array.isArray(value)) return value.map(cleanValue);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, v]) => [cleanText(key), cleanValue(v)]));
}

/** Inserts new rows, updates those that differ, leaves the rest alone; says how many were written. */
export async function putRows(tx: Tx, t: Table, given: Row[]): Promise<number> {
  const rows = lastByKey(t, given);
  if (rows.length === 0) return 0;
  return (await tx.query(putStatement(t, rows, ""))).count;
}

/** Key columns whose text is the same here and in the database. */
const TELLABLE: ReadonlySet<ColumnType> = new Set<ColumnType>(["text", "bigint", "int", "smallint"]);

/** Whether the rows that a put wrote can be told apart by their keys. */
export const tellable = (t: Table): boolean => t.key.every((c) => TELLABLE.has(t.columns[c]!));

/** A row's key as the database says it. */
export function keyName(t: Table, row: Row): string {
  return t.key
    .map((c) => (t.columns[c] === "text" ? cleanText(String(row[c])) : BigInt(row[c] as string | number).toString()))
    .join("\u0000");
}

/** Like putRows for a table whose rows are tellable; says the names of the keys that were written. */
export async function putTellable(tx: Tx, t: Table, given: Row[]): Promise<Set<string>> {
  const rows = lastByKey(t, given);
  if (rows.length === 0) return new Set();
  const names = t.key.map((c, i) => `t.${c}::text as k${i}`).join(", ");
  const written = await tx.query<Record<string, string>>(putStatement(t, rows, `returning ${names}`));
  return new Set(written.rows.map((r) => t.key.map((_, i) => r[`k${i}`]).join("\u0000")));
}

function putStatement(t: Table, rows: Row[], returning: string): Sql {
  const columns = Object.keys(t.columns);
  const rest = columns.filter((c) => !t.key.includes(c));
  const conflict =
    rest.length === 0
      ? "do nothing"
      : `do update set ${rest.map((c) => `${c} = excluded.${c}`).join(", ")}
         where (${rest.map((c) => `t.${c}`).join(", ")}) is distinct from (${rest.map((c) => `excluded.${c}`).join(", ")})
         ${t.newer ? `and excluded.${t.newer} >= t.${t.newer}` : ""}`;
  return new Sql(
    [
      `insert into ${t.name} as t (${columns.join(", ")}) `,
      ` on conflict (${t.key.join(", ")}) ${conflict} ${returning}`,
    ],
    [unnest(t, columns, rows)],
  );
}

/** Deletes rows by key; says how many there were. */
export async function dropRows(tx: Tx, t: Table, given: Row[]): Promise<number> {
  const rows = lastByKey(t, given);
  if (rows.length === 0) return 0;
  const match = t.key.map((c) => `t.${c} = k.${c}`).join(" and ");
  const { count } = await tx.query(
    new Sql([`delete from ${t.name} t using (`, `) k(${t.key.join(", ")}) where ${match}`], [unnest(t, t.key, rows)]),
  );
  return count;
}

/** Deletes up to `most` rows that a resource owns; says how many, so that the caller knows when none are left. */
export async function dropOwned(
  tx: Tx,
  name: string,
  owner: string,
  resource_id: bigint,
  most: number,
): Promise<number> {
  const { count } = await tx.query(
    new Sql(
      [`delete from ${name} where ctid = any(array(select ctid from ${name} where ${owner} = `, " limit ", "))"],
      [resource_id, most],
    ),
  );
  return count;
}
