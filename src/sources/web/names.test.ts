/** What people type is a host, all hosts of a domain, or a sentence; and names are split by public suffixes. */
import { describe, expect, it } from "vitest";
import { partsOf, readTyped, siteOf } from "./names.ts";

describe("the parts of a name", () => {
  it.each([
    ["www.gsa.gov", "gov", "gsa", "www"],
    ["gsa.gov", "gov", "gsa", ""],
    ["earthdata.uat.cdn.nasa.gov", "gov", "nasa", "earthdata.uat.cdn"],
    ["www.example.co.uk", "uk", "example.co", "www"],
    ["someone.github.io", "io", "someone.github", ""],
    ["localhost:8000", "local", "localhost", ""],
    ["127.0.0.1:3000", "local", "127.0.0.1", ""],
    ["www.gsa.gov:8443", "gov", "gsa", "www"],
    ["new.example.unheardof", "unheardof", "example", "new"],
  ])("C19: of %s are %s, %s and %s", (host, tld, domain, subdomain) => {
    expect(partsOf(host)).toEqual({ tld, domain, subdomain });
  });

  it("C5: hosts of one registrable domain are one site", () => {
    expect(siteOf("a.nih.gov")).toBe("nih.gov");
    expect(siteOf("a.b.example.co.uk")).toBe("example.co.uk");
    expect(siteOf("one.github.io")).not.toBe(siteOf("two.github.io"));
  });
});

describe("what a person types", () => {
  it.each([
    ["www.gsa.gov", { kind: "host", key: "www.gsa.gov" }],
    ["https://WWW.GSA.gov/", { kind: "host", key: "www.gsa.gov" }],
    ["http://docs.corp.example:8080", { kind: "host", key: "docs.corp.example:8080" }],
    ["bücher.example", { kind: "host", key: "xn--bcher-kva.example" }],
    ["*.nih.gov", { kind: "domain", key: "nih.gov" }],
  ])("%s is understood", (text, typed) => {
    expect(readTyped(text)).toEqual(typed);
  });

  it.each([
    ["https://www.gsa.gov/page", /is a page/],
    ["*.www.nih.gov", /here: \*\.nih\.gov/],
    ["*.localhost", /after \*\. comes a domain/],
    ["two words", /is not a host/],
    ["me:secret@www.gsa.gov", /password/],
    ["", /is not a host/],
  ])("%s is answered with a sentence", (text, sentence) => {
    expect(readTyped(text)).toMatch(sentence);
  });
});
