/** A real table: named, with headings, and scrolling by itself where the screen is narrow. */
import type { ComponentChildren } from "preact";

export interface Column<R> {
  head: string;
  cell: (row: R) => ComponentChildren;
  /** Numbers stand at the right. */
  right?: boolean;
  /** May break into lines, and takes the room that is left. */
  wide?: boolean;
  /** Left out on a phone. */
  minor?: boolean;
}

interface TableProps<R> {
  name: string;
  columns: Column<R>[];
  rows: R[];
  keyOf: (row: R) => string | number;
  /** What to say instead where there are no rows. */
  empty: ComponentChildren;
  /** The class of a row. */
  look?: (row: R) => string;
}

const classOf = <R,>({ right, wide, minor }: Column<R>): string =>
  [right ? "right" : "", wide ? "wide" : "", minor ? "minor" : ""].filter(Boolean).join(" ");

export function Table<R>({ name, columns, rows, keyOf, empty, look = () => "" }: TableProps<R>) {
  if (rows.length === 0) return <p class="empty">{empty}</p>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by the keyboard
    <section class="scroll" tabIndex={0} aria-label={name}>
      <table>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column.head} scope="col" class={classOf(column)}>
                {column.head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)} class={look(row)}>
              {columns.map((column) => (
                <td key={column.head} class={classOf(column)}>
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
