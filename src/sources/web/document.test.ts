/** Bodies are read as what they are, in whatever characters they are written. */
import { describe, expect, it } from "vitest";
import { makePdf } from "../../demo/web/pdf.ts";
import { hashOf, storable } from "./content.ts";
import { formOf, readDocument } from "./document.ts";
import { readHtml } from "./html.ts";

const textOf = async (body: string | Uint8Array, type?: string) => {
  const found = await readDocument(typeof body === "string" ? Buffer.from(body) : body, type);
  return found === null ? null : storable(found.blocks, "/").map(({ tag, text }) => `${tag}: ${text}`);
};
const latin1 = (text: string) => Buffer.from(text, "latin1");

describe("C15: characters", () => {
  it("are told by the mark at the beginning, then by the server, then by the page", async () => {
    expect(await textOf(latin1('<meta charset="windows-1252"><p>caf\xe9 \x80'), "text/html")).toEqual(["p: café €"]);
    expect(
      await textOf(Buffer.from('\ufeff<meta charset="windows-1252"><p>café'), "text/html; charset=iso-8859-1"),
    ).toEqual(["p: café"]);
    expect(await textOf(Buffer.from('<meta charset="windows-1252"><p>café'), "text/html; charset=utf-8")).toEqual([
      "p: café",
    ]);
    expect(await textOf(Buffer.from("\ufeff<p>café", "utf16le"), "text/html")).toEqual(["p: café"]);
    expect(await textOf(Buffer.from([0x3c, 0x70, 0x3e, 0xd6, 0xd0, 0xce, 0xc4]), "text/html; charset=GB18030")).toEqual(
      ["p: 中文"],
    );
    expect(await textOf(latin1("<p>caf\xe9"), "text/html")).toEqual(["p: café"]);
    expect(await textOf(Buffer.from("<p>café"), "text/html; charset=nonsense")).toEqual(["p: café"]);
  });

  it("that are none, and NUL, are stored all the same", async () => {
    expect(
      await textOf(
        Buffer.concat([Buffer.from("<p>a"), Buffer.from([0xff, 0x00]), Buffer.from("b")]),
        "text/html; charset=utf-8",
      ),
    ).toEqual(["p: a\ufffd b"]);
  });
});

describe("C16: a body", () => {
  it.each([
    ["text/html; charset=utf-8", "<p>x", "html"],
    [undefined, "<!DOCTYPE html><p>x", "html"],
    ["text/plain", "<html><p>x", "html"],
    ["text/html", "%PDF-1.7 x", "pdf"],
    ["application/octet-stream", "%PDF-1.7 x", "pdf"],
    ["application/pdf", "<html>Not found", "other"],
    ["text/plain", "plain words", "text"],
    ["text/markdown", "# words", "text"],
    ["application/json", "{}", "text"],
    ["application/rss+xml", "<rss/>", "xml"],
    [undefined, "plain words", "text"],
    [undefined, "\u0001\u0002\u0003", "other"],
    ["image/png", "x", "other"],
  ])("of type %s that begins with %j is %s", (type, body, form) => {
    expect(formOf(type, Buffer.from(body))).toBe(form);
  });

  it("that is a PDF has a text for each of its pages, and the title that it gives itself", async () => {
    expect(await textOf(makePdf("Annual report", ["First page", "Second (page)"]), "text/html")).toEqual([
      "title: Annual report",
      "page: First page",
      "page: Second (page)",
    ]);
    await expect(textOf("%PDF-1.4 nonsense", "application/pdf")).rejects.toThrow();
  });

  it("that is a text is called by its first line", async () => {
    expect(await textOf("Read me\nfirst\n\nThen this", "text/plain")).toEqual([
      "title: Read me",
      "text: first",
      "text: Then this",
    ]);
    expect(await textOf("<feed><title>News</title><entry>One</entry></feed>", "application/xml")).toEqual([
      "title: News",
      "text: One",
    ]);
  });
});

describe("a page of HTML", () => {
  it("is told apart by tag, without what nobody reads", async () => {
    const page = `<html><head><title>The title</title><style>p{}</style><meta name="description" content="In short">
      </head><body><nav><a href="/x">Menu</a></nav><h1>Head <b>line</b></h1><p>One<br>two</p><ul><li>item</li></ul><table><tr><th>k</th><td>v</td></tr></table>
      <script>var a = "<p>not this</p>";</script><img alt="A photo"><svg><title>Icon</title></svg><div>rest &amp; more</div></body></html>`;
    expect(await textOf(page, "text/html")).toEqual([
      ...[
        "title: The title",
        "description: In short",
        "div: Menu",
        "h1: Head line",
        "p: One",
        "p: two",
        "li: item",
        "th: k",
        "td: v",
      ],
      ...["alt: A photo", "div: rest & more"],
    ]);
  });

  it("leads where its links, frames and refreshes lead, seen from its base", () => {
    const found = readHtml(
      `<base href="/base/"><a href="a">a</a><a rel="nofollow" href="b">b</a><iframe src="c"></iframe><meta http-equiv="refresh" content="0; url='d'"><link rel="canonical" href="/e"><area href="f">`,
    );
    expect(found).toMatchObject({ base: "/base/", links: ["a", "c", "d", "f"], canonical: "/e" });
  });

  it.each([
    ["noindex", true, false],
    ["NOFOLLOW", false, true],
    ["none", true, true],
    ["noarchive, noindex", true, false],
    ["index, follow", false, false],
  ])("that says %s to robots", (content, noindex, nofollow) => {
    expect(readHtml(`<meta name="ROBOTS" content="${content}">`)).toMatchObject({ noindex, nofollow });
    expect(readHtml(`<meta name="otherbot" content="${content}">`)).toMatchObject({ noindex: false, nofollow: false });
  });

  it("is the same page while its text is the same", () => {
    const hash = (html: string) => hashOf(storable(readHtml(html).blocks, "/")).toString("hex");
    expect(hash("<p>one  two</p>")).toBe(hash('<!-- 12:00 --><p class="x">one\ntwo</p><script>1</script>'));
    expect(hash("<p>one two</p>")).not.toBe(hash("<h1>one two</h1>"));
  });
});
