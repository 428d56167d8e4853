/** HTML as blocks of text by tag, with its links and what its author says to robots. */
import { Parser } from "htmlparser2";
import { type Extracted, nothing, type Tag, TEXT_MOST, tags } from "./content.ts";

/** Nobody reads what is in there. */
const silent = new Set([
  "script",
  "style",
  "noscript",
  "template",
  "svg",
  "math",
  "iframe",
  "object",
  "select",
  "textarea",
  "head",
]);
/** Elements that end a block without being one that is told apart. */
const breaks = new Set(
  "article aside body br button center dl fieldset figure footer form header hr legend main nav ol option section table tbody tfoot thead tr ul address details".split(
    " ",
  ),
);
const LINKS_MOST = 5_000;

type Attributes = Record<string, string>;

class Reading {
  readonly found: Extracted = nothing();
  readonly #open: string[] = [];
  #text = "";
  #length = 0;
  #silent = 0;

  open(name: string, attributes: Attributes): void {
    this.#notice(name, attributes);
    if (silent.has(name)) this.#silent += 1;
    if (name === "title" && this.#silent > 0 && !this.#open.includes("svg")) this.#begin(name);
    else if (isBlock(name) || breaks.has(name)) this.#begin(name);
    if (name === "img" && attributes.alt && this.#silent === 0)
      this.found.blocks.push({ tag: "alt", text: attributes.alt });
  }

  text(text: string): void {
    const title = this.#open.at(-1) === "title";
    if (this.#length > TEXT_MOST * 2 || (this.#silent > (title ? 1 : 0) && !title)) return;
    this.#length += text.length;
    this.#text += text;
  }

  close(name: string): void {
    if (silent.has(name) && this.#silent > 0) this.#silent -= 1;
    if (!isBlock(name) && !breaks.has(name)) return;
    this.flush();
    const at = this.#open.lastIndexOf(name);
    if (at >= 0) this.#open.splice(at);
  }

  #begin(name: string): void {
    this.flush();
    if (isBlock(name)) this.#open.push(name);
  }

  /** A text belongs to the innermost block that it stands in. */
  flush(): void {
    const text = this.#text;
    this.#text = "";
    if (text.trim() === "") return;
    const tag = (this.#open.at(-1) ?? "div") as Tag;
    // Only the first title is one; drawings have some, too.
    if (tag === "title" && this.found.blocks.some((block) => block.tag === "title")) return;
    this.found.blocks.push({ tag, text });
  }

  #notice(name: string, attributes: Attributes): void {
    const { found } = this;
    const rel = (attributes.rel ?? "").toLowerCase().split(/\s+/);
    switch (name) {
      case "a":
      case "area":
        if (attributes.href && !rel.includes("nofollow")) this.#link(attributes.href);
        break;
      case "iframe":
      case "frame":
        if (attributes.src) this.#link(attributes.src);
        break;
      case "base":
        found.base ??= attributes.href ?? null;
        break;
      case "link":
        if (rel.includes("canonical") && attributes.href) found.canonical ??= attributes.href;
        else if (attributes.href && (rel.includes("next") || rel.includes("prev"))) this.#link(attributes.href);
        break;
      case "meta":
        this.#meta(attributes);
    }
  }

  #meta(attributes: Attributes): void {
    const { found } = this;
    const name = (attributes.name ?? "").trim().toLowerCase();
    const content = attributes.content ?? "";
    if (name === "robots" || name === "tidemark") heed(found, content);
    if (name === "description" && content !== "") found.blocks.push({ tag: "description", text: content });
    if ((attributes["http-equiv"] ?? "").toLowerCase() !== "refresh") return;
    const target = /^\s*[\d.]+\s*[;,]\s*(?:url\s*=\s*)?["']?(.+?)["']?\s*$/i.exec(content)?.[1];
    if (target) this.#link(target);
  }

  #link(href: string): void {
    if (this.found.links.length < LINKS_MOST) this.found.links.push(href);
  }
}

const isBlock = (name: string): boolean => name in tags;

/** What an author says to all robots, or to us: in the page, or in a header. */
export function heed(found: Pick<Extracted, "noindex" | "nofollow">, said: string): void {
  const words = said.toLowerCase().split(/[\s,]+/);
  if (words.includes("noindex") || words.includes("none")) found.noindex = true;
  if (words.includes("nofollow") || words.includes("none")) found.nofollow = true;
}

export function readHtml(text: string): Extracted {
  const reading = new Reading();
  const parser = new Parser(
    {
      onopentag: (name, attributes) => reading.open(name, attributes),
      ontext: (part) => reading.text(part),
      onclosetag: (name) => reading.close(name),
    },
    { decodeEntities: true, lowerCaseTags: true, lowerCaseAttributeNames: true },
  );
  parser.write(text);
  parser.end();
  reading.flush();
  return reading.found;
}
