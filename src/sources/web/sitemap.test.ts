/** Sitemaps are read as they come: with and without namespaces, compressed, as text, with mistakes in them. */
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { ENTRIES_MOST, readSitemap } from "./sitemap.ts";

const NOW = Date.UTC(2026, 5, 15);
const url = (loc: string, lastmod?: string) =>
  `<url><loc>${loc}</loc>${lastmod ? `<lastmod>${lastmod}</lastmod>` : ""}</url>`;
const urlset = (...urls: string[]) =>
  `<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${urls.join("")}</urlset>`;
const read = (text: string | Uint8Array) => readSitemap(typeof text === "string" ? Buffer.from(text) : text, NOW);
const urls = (text: string | Uint8Array) => read(text)?.entries.map((entry) => entry.url);

describe("C18: a sitemap", () => {
  it("lists addresses with the time of their last change", () => {
    expect(read(urlset(url("https://a.gov/1", "2026-06-01"), url("https://a.gov/2")))).toEqual({
      index: false,
      entries: [
        { url: "https://a.gov/1", lastmod_ms: Date.UTC(2026, 5, 1) },
        { url: "https://a.gov/2", lastmod_ms: null },
      ],
    });
  });

  it("is read compressed, as text, with a prefix, with CDATA and with entities", () => {
    expect(urls(gzipSync(urlset(url("https://a.gov/1"))))).toEqual(["https://a.gov/1"]);
    expect(urls("\ufeffhttps://a.gov/1\r\nnonsense\r\nhttps://a.gov/2")).toEqual([
      "https://a.gov/1",
      "https://a.gov/2",
    ]);
    expect(
      urls(`<s:urlset xmlns:s="x"><s:url><s:loc><![CDATA[https://a.gov/1?a=1&b=2]]></s:loc></s:url></s:urlset>`),
    ).toEqual(["https://a.gov/1?a=1&b=2"]);
    expect(urls(urlset(url("https://a.gov/1?a=1&amp;b=2")))).toEqual(["https://a.gov/1?a=1&b=2"]);
  });

  it("names other sitemaps where it is a list of them", () => {
    const text = `<sitemapindex><sitemap><loc>https://a.gov/s1.xml.gz</loc><lastmod>2026-01-01T00:00:00Z</lastmod></sitemap></sitemapindex>`;
    expect(read(text)).toMatchObject({ index: true, entries: [{ url: "https://a.gov/s1.xml.gz" }] });
  });

  it("counts up to its first mistake, holds each address once, and 50,000 at most", () => {
    expect(urls(`<urlset>${url("https://a.gov/1")}<url <<<url><loc>https://a.gov/2</loc></url></urlset>`)).toEqual([
      "https://a.gov/1",
    ]);
    expect(urls(urlset(url("https://a.gov/1"), url("https://a.gov/1")))).toEqual(["https://a.gov/1"]);
    const many = Array.from({ length: ENTRIES_MOST + 5 }, (_, n) => url(`https://a.gov/${n}`));
    expect(read(urlset(...many))!.entries).toHaveLength(ENTRIES_MOST);
  });

  it("is not believed about the future, nor where everything changed today", () => {
    expect(read(urlset(url("https://a.gov/1", "2030-01-01")))!.entries[0]!.lastmod_ms).toBeNull();
    const today = Array.from({ length: 20 }, (_, n) => url(`https://a.gov/${n}`, "2026-06-14T10:00:00Z"));
    expect(read(urlset(...today))!.entries.every((entry) => entry.lastmod_ms === null)).toBe(true);
    const mixed = Array.from({ length: 20 }, (_, n) =>
      url(`https://a.gov/${n}`, `2026-05-${String(n + 1).padStart(2, "0")}`),
    );
    expect(read(urlset(...mixed))!.entries.every((entry) => entry.lastmod_ms !== null)).toBe(true);
  });

  it("is none where it is a page, half an archive or a bomb", () => {
    expect(read("<html><body>Not found</body></html>")).toBeNull();
    expect(read("plain words")).toBeNull();
    expect(read(gzipSync(urlset()).subarray(0, 20))).toBeNull();
    expect(read(gzipSync(Buffer.alloc(60 * 1024 * 1024)))).toBeNull();
  });
});
