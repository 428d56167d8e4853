/** Small words for reading what a parser found. */
import type { SyntaxNode } from "@lezer/common";

/** Names are shortened to this. */
const NAME_MAX = 300;

export function childrenOf(node: SyntaxNode): SyntaxNode[] {
  const found: SyntaxNode[] = [];
  for (let at = node.firstChild; at; at = at.nextSibling) found.push(at);
  return found;
}

export const childOf = (node: SyntaxNode, ...names: string[]): SyntaxNode | null =>
  childrenOf(node).find(({ name }) => names.includes(name)) ?? null;

export const shortened = (name: string): string => name.replaceAll(/\s+/g, " ").trim().slice(0, NAME_MAX);

/** The line that a place in the text is on, counted from 1; made once for a file. */
export function lineFinder(text: string): (at: number) => number {
  const starts = [0];
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return (at) => {
    let [low, high] = [0, starts.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (starts[middle]! <= at) low = middle;
      else high = middle - 1;
    }
    return low + 1;
  };
}
