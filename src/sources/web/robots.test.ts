/** robots.txt means what RFC 9309 says, whatever its authors wrote around it. */
import { describe, expect, it } from "vitest";
import { decodeRobots, ROBOTS_BYTES_MAX, readRobots } from "./robots.ts";

const allows = (text: string, path: string, product = "tidemark") => readRobots(text, product).allows(path);
const rules = (...lines: string[]) => ["User-agent: *", ...lines].join("\n");

describe("C2: groups", () => {
  it("that name us are one, wherever they stand, and those for everybody count only where none does", () => {
    const text =
      "user-agent: Tidemark\ndisallow: /a\n\nuser-agent: *\ndisallow: /c\n\nuser-agent: tidemark\ndisallow: /b";
    expect(["/a", "/b", "/c"].map((path) => allows(text, path))).toEqual([false, false, true]);
    expect(["/a", "/b", "/c"].map((path) => allows(text, path, "other"))).toEqual([true, true, false]);
  });

  it("are not meant for us when their name only begins like ours", () => {
    const text = "User-agent: searchbot-news\nDisallow: /";
    expect(allows(text, "/x", "searchbot")).toBe(true);
    expect(allows(text, "/x", "searchbot-news")).toBe(false);
    expect(allows("User-agent: tidemark/2.0 (+x)\nDisallow: /", "/x")).toBe(false);
  });

  it("are not ended by other records", () => {
    expect(allows("User-agent: tidemark\nSitemap: https://a.gov/s.xml\nDisallow: /p", "/p")).toBe(false);
    expect(allows("User-agent: tidemark\nCrawl-delay: 10\nUser-agent: other\nDisallow: /p", "/p")).toBe(false);
  });

  it("skip lines that are none, one at a time", () => {
    expect(allows("<html>\nnonsense\nUser-agent *\nUser-agent: *\nDisallow /a\nDisallow : /b # c\n", "/b")).toBe(false);
    expect(allows("<html><body>Not found</body></html>", "/b")).toBe(true);
    expect(allows("Disallow: /before-any-group", "/before-any-group")).toBe(true);
  });
});

describe("C2: rules", () => {
  it.each([
    [["Disallow: /a", "Allow: /a/b"], "/a/b/c", true],
    [["Disallow: /a", "Allow: /a/b"], "/a/c", false],
    [["Disallow: /page", "Allow: /page"], "/page", true],
    [["Allow: /page", "Disallow: /*.htm"], "/page.htm", false],
    [["Disallow: /*.pdf$"], "/a.pdf", false],
    [["Disallow: /*.pdf$"], "/a.pdf?x=1", true],
    [["Disallow: /a*b*c$"], "/a1b2c", false],
    [["Disallow: /a*b*c$"], "/a1b2c3", true],
    [["Disallow: /*aa$"], "/aaa", false],
    [["Disallow:"], "/a", true],
    [["Disallow: /"], "/", false],
    [["Disallow: /"], "/robots.txt", true],
    [["Disallow: /%7Ejoe"], "/~joe/x", false],
    [["Disallow: /~joe"], "/%7ejoe/x", false],
    [["Disallow: /ü"], "/%C3%BC", false],
    [["Disallow: /a?id=1"], "/a?id=1", false],
    [["Disallow: /A"], "/a", true],
  ])("%j and %s: %s", (lines, path, allowed) => {
    expect(allows(rules(...lines), path)).toBe(allowed);
  });

  it("take no longer however they are written", () => {
    const pattern = `/${"*a".repeat(2_000)}$`;
    expect(allows(rules(`Disallow: ${pattern}`), `/${"a".repeat(1_900)}b`)).toBe(true);
  });
});

describe("C1: the file", () => {
  it("is read whatever its line ends, byte order mark or encoding", () => {
    const text = "User-agent: *\r\nDisallow: /a\r\n";
    const utf16 = Buffer.from(`\ufeff${text}`, "utf16le");
    expect(allows(decodeRobots(utf16), "/a")).toBe(false);
    expect(allows(decodeRobots(utf16.swap16()), "/a")).toBe(false);
    expect(allows(decodeRobots(Buffer.from(`\ufeff${text}`)), "/a")).toBe(false);
    expect(allows("User-agent: *\rDisallow: /a", "/a")).toBe(false);
  });

  it("is read for 500 KiB at least, and not without end", () => {
    const text = `${"# x\n".repeat(120_000)}User-agent: *\nDisallow: /a\n`;
    expect(Buffer.byteLength(text)).toBeGreaterThan(480_000);
    expect(allows(decodeRobots(Buffer.from(text)), "/a")).toBe(false);
    expect(decodeRobots(Buffer.alloc(ROBOTS_BYTES_MAX * 2, 32)).length).toBe(ROBOTS_BYTES_MAX);
  });

  it("tells a delay and sitemaps, the latter of no group", () => {
    const robots = readRobots(
      "Sitemap: /s.xml\nUser-agent: *\nCrawl-delay: 2.5\nSitemap: https://b.gov/x.xml\nSitemap: /s.xml",
      "tidemark",
    );
    expect(robots.crawl_delay_ms).toBe(2_500);
    expect(robots.sitemaps).toEqual(["/s.xml", "https://b.gov/x.xml"]);
    expect(readRobots("User-agent: *\nCrawl-delay: soon", "tidemark").crawl_delay_ms).toBeNull();
  });
});
