/** A body as what it is: its type by what it says and by how it begins, its characters by every sign there is. */
import htmlEncodingSniffer from "html-encoding-sniffer";
import { Parser } from "htmlparser2";
import { type Block, type Extracted, nothing } from "./content.ts";
import { readHtml } from "./html.ts";
import { readPdf } from "./pdf.ts";

export type Form = "html" | "pdf" | "text" | "xml" | "other";

/** Without parameters, in lower case; as servers that say nothing mean it. */
export const typeOf = (header: string | undefined): string =>
  (header ?? "").split(";")[0]!.trim().toLowerCase() || "application/octet-stream";

const label = (header: string | undefined): string | undefined =>
  /;\s*charset\s*=\s*["']?([^"';\s]+)/i.exec(header ?? "")?.[1];

/** A PDF is one whatever its type says; what has no type worth the name is known by its beginning. */
export function formOf(header: string | undefined, bytes: Uint8Array): Form {
  const beginning = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 1024)).toString("latin1");
  if (/^\s*%PDF-/.test(beginning)) return "pdf";
  const type = typeOf(header);
  if (type === "text/html" || type === "application/xhtml+xml") return "html";
  if (type === "application/pdf") return "other";
  const vague = type === "application/octet-stream" || type === "text/plain";
  if (vague && /^(\xef\xbb\xbf)?\s*(<!--[\s\S]*?-->\s*)?<(!doctype html|html|head|body)[\s>]/i.test(beginning))
    return "html";
  if (/^(text|application)\/(.+\+)?xml$/.test(type)) return "xml";
  if (/^text\//.test(type) || /^application\/(.+\+)?json$/.test(type)) return "text";
  const binary = bytes.subarray(0, 512).some((octet) => octet < 9 || (octet > 13 && octet < 27));
  return type === "application/octet-stream" && beginning !== "" && !binary ? "text" : "other";
}

/** By byte order mark, then by what the server says, then by what the page says in its first 1,024 bytes. */
export function decodeBody(bytes: Uint8Array, header: string | undefined, form: Form): string {
  const said = label(header);
  const encoding =
    form === "html"
      ? htmlEncodingSniffer(bytes, {
          ...(said ? { transportLayerEncodingLabel: said } : {}),
          defaultEncoding: guess(bytes),
        })
      : plainEncoding(bytes, said);
  const text = new TextDecoder(encoding).decode(bytes);
  return /^windows-1252$/i.test(encoding) ? text.replace(/[\u0080-\u009f]/g, western) : text;
}

/** What windows-1252 has where ISO 8859-1 has nothing to see; Node 20 takes the one for the other. */
const WESTERN =
  "\u20ac\u0081\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\u008d\u017d\u008f\u0090\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153\u009d\u017e\u0178";
const western = (character: string): string => WESTERN[character.charCodeAt(0) - 0x80]!;

function plainEncoding(bytes: Uint8Array, said: string | undefined): string {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return "utf-16le";
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return "utf-16be";
  try {
    if (said) return new TextDecoder(said).encoding;
  } catch {
    // A name that nobody knows says nothing.
  }
  return guess(bytes);
}

/** UTF-8 where it can be; else what browsers take. */
function guess(bytes: Uint8Array): string {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return "utf-8";
  } catch {
    return "windows-1252";
  }
}

/** Everything that is found in a body; null where it is nothing that can be searched. */
export async function readDocument(bytes: Uint8Array, header: string | undefined): Promise<Extracted | null> {
  const form = formOf(header, bytes);
  switch (form) {
    case "html":
      return readHtml(decodeBody(bytes, header, form));
    case "pdf":
      return readPdf(bytes);
    case "xml":
      return { ...nothing(), blocks: paragraphs(textOfXml(decodeBody(bytes, header, form))) };
    case "text":
      return { ...nothing(), blocks: paragraphs(decodeBody(bytes, header, form)) };
    case "other":
      return null;
  }
}

/** The first line of a text is what it would be called by. */
function paragraphs(text: string): Block[] {
  const [first = "", ...rest] = text.split(/\r?\n\s*\r?\n/).filter((one) => one.trim() !== "");
  const lines = first.trim().split(/\r?\n/);
  const short = lines[0] !== undefined && lines[0].length <= 120;
  const blocks: Block[] = short ? [{ tag: "title", text: lines.shift()! }] : [];
  if (lines.length > 0) blocks.push({ tag: "text", text: lines.join("\n") });
  return [...blocks, ...rest.map((one): Block => ({ tag: "text", text: one }))];
}

function textOfXml(text: string): string {
  const parts: string[] = [];
  const parser = new Parser(
    { ontext: (part) => parts.push(part), onclosetag: () => parts.push("\n\n") },
    { xmlMode: true },
  );
  parser.write(text);
  parser.end();
  return parts.join("");
}
