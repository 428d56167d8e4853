/** Tables for people: columns as wide as they need to be, numbers to the right. */

export type Cell = string | number | null;

export function table(title: string, heads: string[], rows: Cell[][]): string {
  const texts = rows.map((row) => row.map(shown));
  const widths = heads.map((head, i) => Math.max(head.length, ...texts.map((row) => row[i]?.length ?? 0)));
  const line = (cells: string[]) =>
    cells.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!))).join("  ");
  return ["", title, line(heads), line(widths.map((w) => "-".repeat(w))), ...texts.map(line), ""].join("\n");
}

function shown(cell: Cell): string {
  if (cell === null || (typeof cell === "number" && !Number.isFinite(cell))) return "–";
  if (typeof cell === "string") return cell;
  if (Math.abs(cell) >= 1000) return Math.round(cell).toLocaleString("en");
  return cell.toFixed(Math.abs(cell) >= 100 ? 0 : Math.abs(cell) >= 10 ? 1 : 2);
}
