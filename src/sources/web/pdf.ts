/** PDFs as one block for each page, so that a search can lead to the page. */
import { extractText, getDocumentProxy } from "unpdf";
import { type Extracted, nothing, squeezed } from "./content.ts";

const PAGES_MOST = 2_000;

export async function readPdf(bytes: Uint8Array): Promise<Extracted> {
  // The library takes what it is given for itself.
  const pdf = await getDocumentProxy(new Uint8Array(bytes));
  const { info } = (await pdf.getMetadata().catch(() => ({ info: {} }))) as { info: { Title?: unknown } };
  const { text } = await extractText(pdf, { mergePages: false });
  const pages = text.slice(0, PAGES_MOST).map(squeezed);
  const named = typeof info.Title === "string" ? squeezed(info.Title) : "";
  // Without a title, a document is called by how it begins.
  const title = named !== "" ? named : (pages.find((page) => page !== "") ?? "").slice(0, 100);
  const found = nothing();
  if (title !== "") found.blocks.push({ tag: "title", text: title });
  found.blocks.push(...pages.map((page) => ({ tag: "page" as const, text: page })));
  return found;
}
