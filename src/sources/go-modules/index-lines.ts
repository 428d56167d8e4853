/** The lines of the index, byte for byte as index.golang.org writes them. */
import sql, { type Sql } from "sql-template-tag";

const escapes: Record<string, string> = {
  "<": "\\u003c",
  ">": "\\u003e",
  "&": "\\u0026",
  "\u2028": "\\u2028",
  "\u2029": "\\u2029",
};

/**
 * One line for a row `p` of the feed. JSON of the database has times without zeros at their end, as Go's has. A page of 2,000 lines takes the
 * database 2 ms more than its rows would, and this process a fifth of the time: 1.7 ms of CPU instead of 8 to read them, and 3 to write.
 */
export const line: Sql = sql`
  '{"Path":' || to_json(p.path)::text || ',"Version":' || to_json(p.version)::text || ',"Timestamp":'
    || rtrim(to_json(p.published_at at time zone 'UTC')::text, '"') || E'Z"}\n'`;

/** Lines of the database as Go's encoder writes them, which also escapes what would mean something in HTML and JavaScript. */
export function asGoWrites(lines: string): string {
  return lines.replace(/[<>&\u2028\u2029]/g, (c) => escapes[c]!);
}
