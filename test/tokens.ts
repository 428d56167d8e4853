/** Cuts TypeScript into tokens, well enough to find imports, names and the bodies of functions. */

export interface SourceFile {
  /** From the root of the repository, with forward slashes. */
  path: string;
  text: string;
}

export interface Token {
  kind: "word" | "mark" | "string" | "template" | "regex" | "comment";
  text: string;
  line: number;
}

const cut = new WeakMap<SourceFile, Token[]>();

/** The tokens of a file, comments and all. */
export function tokensOf(file: SourceFile): Token[] {
  const known = cut.get(file);
  if (known) return known;
  const tokens = new Cutter(file.text).all();
  cut.set(file, tokens);
  return tokens;
}

/** The tokens of a file without its comments: what the compiler sees. */
export function codeOf(file: SourceFile): Token[] {
  return tokensOf(file).filter((token) => token.kind !== "comment");
}

/** After these words a slash begins a regular expression; after any other it divides. */
const before_regex = new Set([
  "return",
  "typeof",
  "case",
  "in",
  "of",
  "delete",
  "void",
  "throw",
  "new",
  "else",
  "do",
  "await",
  "yield",
]);

const shapes: readonly [Token["kind"] | "space", RegExp][] = [
  ["space", /\s+/y],
  ["comment", /\/\/[^\n]*|\/\*[\s\S]*?\*\/|^#![^\n]*/y],
  ["string", /"(?:[^"\\\n]|\\[\s\S])*"?|'(?:[^'\\\n]|\\[\s\S])*'?/y],
  ["word", /[#\p{ID_Start}$_][\p{ID_Continue}$]*|\d[\w.]*/uy],
  ["mark", /=>|\.\.\.|[\s\S]/y],
];
const regex = /\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/y;
const template_part = /(?:[^`\\$]|\\[\s\S]|\$(?!\{))*/y;

class Cutter {
  readonly #text: string;
  readonly #tokens: Token[] = [];
  /** For each open brace, whether it began a hole in a template. */
  readonly #braces: boolean[] = [];
  #at = 0;
  #line = 1;

  constructor(text: string) {
    this.#text = text;
  }

  all(): Token[] {
    while (this.#at < this.#text.length) this.#next();
    return this.#tokens;
  }

  #next(): void {
    const next = this.#text[this.#at];
    if (next === "`" || (next === "}" && this.#braces.at(-1) === true)) {
      this.#template();
      return;
    }
    if (this.#slashBeginsRegex() && this.#take("regex", regex)) return;
    for (const [kind, shape] of shapes) if (this.#take(kind, shape)) break;
    const last = this.#tokens.at(-1);
    if (last?.kind !== "mark") return;
    if (last.text === "{" && this.#text[this.#at - 1] === "{") this.#braces.push(false);
    if (last.text === "}" && this.#text[this.#at - 1] === "}") this.#braces.pop();
  }

  /** From a backtick, or from the brace that ends a hole, to the next hole or the closing backtick. */
  #template(): void {
    if (this.#text[this.#at] === "}") {
      this.#braces.pop();
      this.#push("mark", "}");
    } else {
      this.#push("template", "`");
    }
    this.#take("template", template_part);
    if (this.#text.startsWith("${", this.#at)) {
      this.#at += 1;
      this.#push("mark", "{");
      this.#braces.push(true);
    } else if (this.#at < this.#text.length) {
      this.#push("template", "`");
    }
  }

  #slashBeginsRegex(): boolean {
    if (this.#text[this.#at] !== "/" || /[/*]/.test(this.#text[this.#at + 1] ?? "")) return false;
    const last = this.#tokens.findLast((token) => token.kind !== "comment");
    if (!last) return true;
    if (last.kind === "word") return before_regex.has(last.text);
    return last.kind === "mark" && !/^[)\]}]$/.test(last.text);
  }

  #take(kind: Token["kind"] | "space", shape: RegExp): boolean {
    shape.lastIndex = this.#at;
    const text = shape.exec(this.#text)?.[0];
    if (!text) return false;
    if (kind === "space") this.#skip(text);
    else this.#push(kind, text);
    return true;
  }

  #push(kind: Token["kind"], text: string): void {
    this.#tokens.push({ kind, text, line: this.#line });
    this.#skip(text);
  }

  #skip(text: string): void {
    this.#at += text.length;
    this.#line += text.split("\n").length - 1;
  }
}
