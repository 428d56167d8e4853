/** What commands print: tables for people, JSON for programs, colours only on a terminal. */
import { styleText } from "node:util";

export interface Output {
  /** A line of what was asked for. */
  line(text: string): void;
  /** A line about it, which does not belong to the answer. */
  note(text: string): void;
  /** Takes what is on the screen away, where there is one. */
  clear(): void;
  readonly colour: boolean;
}

export interface Streams {
  out: { write(text: string): unknown; isTTY?: boolean };
  err: { write(text: string): unknown; isTTY?: boolean };
}

/** NO_COLOR, whatever its value, means none (https://no-color.org). */
export function outputTo({ out, err }: Streams, no_color: boolean): Output {
  return {
    line: (text) => void out.write(`${text}\n`),
    note: (text) => void err.write(`${text}\n`),
    clear: () => void (out.isTTY === true && out.write("\u001b[H\u001b[2J")),
    colour: out.isTTY === true && !no_color,
  };
}

type Style = Parameters<typeof styleText>[0];

export function paint(output: Output, style: Style, text: string): string {
  return output.colour ? styleText(style, text, { validateStream: false }) : text;
}

/** Columns as wide as their widest cell; numbers to the right. */
export function table(headings: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const widths = headings.map((heading, i) => Math.max(heading.length, ...rows.map((row) => row[i]?.length ?? 0)));
  const right = headings.map((_, i) => rows.length > 0 && rows.every((row) => /^[\d.,%+–-]*( %)?$/.test(row[i] ?? "")));
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, i) => (right[i] ? cell.padStart(widths[i]!) : cell.padEnd(widths[i]!)))
      .join("  ")
      .trimEnd();
  return [line(headings), ...rows.map(line)];
}
