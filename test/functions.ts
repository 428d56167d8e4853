/** Finds the functions of a file and counts their lines. */
import { codeOf, type SourceFile, type Token } from "./tokens.ts";

export interface FoundFunction {
  line: number;
  lines: number;
}

const not_functions = new Set(["if", "for", "while", "switch", "catch", "with", "await"]);
const closers: Readonly<Record<string, string>> = { ")": "(", "]": "[", "}": "{" };

/** Every function with a body in braces. The callback of a `describe` is a shelf of tests, not a function. */
export function functionsOf(file: SourceFile): FoundFunction[] {
  const tokens = codeOf(file);
  const partner = partnersOf(tokens);
  const found: FoundFunction[] = [];
  tokens.forEach((token, at) => {
    if (!is(token, "{")) return;
    const start = startOfFunction(tokens, partner, at);
    const end = tokens[partner.get(at) ?? -1];
    if (start === null || end === undefined || isShelf(tokens, partner, start)) return;
    // What is followed by the body itself was the type of the result.
    if (is(tokens[partner.get(at)! + 1], "{")) return;
    const line = tokens[start]!.line;
    found.push({ line, lines: end.line - line + 1 });
  });
  return found;
}

/** Where the function whose body opens at `brace` begins; null when that brace opens something else. */
function startOfFunction(tokens: Token[], partner: Map<number, number>, brace: number): number | null {
  let at = brace - 1;
  if (is(tokens[at], "=>")) {
    at = is(tokens[at - 1], ")") ? at - 1 : beforeType(tokens, partner, at - 1);
    return is(tokens[at], ")") ? (partner.get(at) ?? null) : brace - 1;
  }
  if (!is(tokens[at], ")")) at = beforeType(tokens, partner, at);
  const open = is(tokens[at], ")") ? partner.get(at) : undefined;
  if (open === undefined) return null;
  const before = tokens[open - 1];
  return before?.kind === "word" && not_functions.has(before.text) ? null : open;
}

/** Words that stand beside another word inside a type; elsewhere two neighbours mean that a statement ended there. */
const joining = new Set(["is", "asserts", "keyof", "typeof", "readonly", "extends", "infer", "unique"]);

/** Walks back over what may be the type of a result, to the parenthesis before its colon; -1 when it is none. */
function beforeType(tokens: Token[], partner: Map<number, number>, from: number): number {
  let right: Token | undefined;
  for (let at = from; at > 0; at--) {
    const token = tokens[at]!;
    const closes = token.kind === "mark" && token.text in closers;
    if (is(token, ":")) return is(tokens[at - 1], ")") ? at - 1 : -1;
    if (token.kind === "mark" && !closes && !/^([<>.,|&]|=>)$/.test(token.text)) return -1;
    const stands = closes || token.kind === "word";
    if (stands && right?.kind === "word" && !joining.has(token.text) && !joining.has(right.text)) return -1;
    right = token;
    if (closes) at = partner.get(at) ?? 0;
  }
  return -1;
}

function isShelf(tokens: Token[], partner: Map<number, number>, start: number): boolean {
  for (let at = start - 1; at >= 0; at--) {
    const token = tokens[at]!;
    if (token.kind === "mark" && token.text in closers) at = partner.get(at) ?? -1;
    else if (is(token, "(")) return calls(tokens, partner, at) === "describe";
    else if (is(token, "{") || is(token, ";")) return false;
  }
  return false;
}

/** The first word of what is called at an opening parenthesis: `describe` of `describe.each([…])(`. */
function calls(tokens: Token[], partner: Map<number, number>, open: number): string | undefined {
  let at = open - 1;
  if (is(tokens[at], ")")) at = (partner.get(at) ?? 0) - 1;
  while (is(tokens[at - 1], ".")) at -= 2;
  return tokens[at]?.text;
}

/** For each bracket the place of the one that closes or opens it. */
function partnersOf(tokens: Token[]): Map<number, number> {
  const partner = new Map<number, number>();
  const open: number[] = [];
  tokens.forEach((token, at) => {
    if (token.kind !== "mark") return;
    if (/^[([{]$/.test(token.text)) open.push(at);
    if (!(token.text in closers)) return;
    const last = open.findLastIndex((place) => tokens[place]!.text === closers[token.text]);
    if (last < 0) return;
    const [match] = open.splice(last);
    partner.set(match!, at);
    partner.set(at, match!);
  });
  return partner;
}

function is(token: Token | undefined, mark: string): boolean {
  return token?.kind === "mark" && token.text === mark;
}
