/** What commands print: tables for people, JSON for programs, colours only on a terminal. */
import { stripVTControlCharacters, styleText } from "node:util";

export interface Output {
  /** A line of what was asked for. */
  line(text: string): void;
  /** A line about it, which does not belong to the answer. */
  note(text: string): void;
  /** Lines in the place of those before, where there is a screen; elsewhere after them. */
  frame(lines: readonly string[]): void;
  readonly colour: boolean;
}

export interface Streams {
  out: { write(text: string): unknown; isTTY?: boolean; columns?: number; rows?: number };
  err: { write(text: string): unknown; isTTY?: boolean };
}

/** NO_COLOR, whatever its value, means none (https://no-color.org). */
export function outputTo({ out, err }: Streams, no_color: boolean): Output {
  return {
    line: (text) => void out.write(`${text}\n`),
    note: (text) => void err.write(`${text}\n`),
    frame: (lines) => void out.write(out.isTTY === true ? drawn(lines, out) : `${lines.join("\n")}\n`),
    colour: out.isTTY === true && !no_color,
  };
}

const ESCAPE = "\u001b";

/**
 * One write that goes over what is there from the top and takes away what is left of it: nothing flickers, and nothing has to be put
 * back at the end. What is wider or higher than the screen is cut, or it would push the rest out of its place.
 */
export function drawn(
  lines: readonly string[],
  { columns = 80, rows = 24 }: { columns?: number; rows?: number },
): string {
  const shown = lines.slice(0, Math.max(1, rows - 1)).map((line) => {
    const plain = stripVTControlCharacters(line);
    return `${plain.length > columns ? plain.slice(0, columns) : line}${ESCAPE}[K`;
  });
  return `${ESCAPE}[H${shown.join("\n")}\n${ESCAPE}[J`;
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
