/** One page has one spelling, and what looks like a trap is told. */
import { describe, expect, it } from "vitest";
import { addressOf, isText, shapeOf, trapOf, urlOf } from "./url.ts";

const plain = (text: string, from?: string) => {
  const address = addressOf(text, from);
  return address && urlOf(address);
};

describe("C13: a URL", () => {
  it.each([
    ["HTTP://WWW.GSA.GOV", "http://www.gsa.gov/"],
    ["http://www.gsa.gov:80/a", "http://www.gsa.gov/a"],
    ["https://www.gsa.gov:443/a", "https://www.gsa.gov/a"],
    ["https://www.gsa.gov:8443/a", "https://www.gsa.gov:8443/a"],
    ["https://www.gsa.gov/a#part", "https://www.gsa.gov/a"],
    ["https://www.gsa.gov./a", "https://www.gsa.gov/a"],
    ["https://www.gsa.gov/a;jsessionid=1A2B?x=1", "https://www.gsa.gov/a?x=1"],
    ["https://www.gsa.gov/a?utm_source=x&b=2&a=1&fbclid=y", "https://www.gsa.gov/a?a=1&b=2"],
    ["https://www.gsa.gov/a?utm_source=x", "https://www.gsa.gov/a"],
    ["https://www.gsa.gov/a?", "https://www.gsa.gov/a"],
    ["https://www.gsa.gov/a/./b/../c", "https://www.gsa.gov/a/c"],
    ["https://www.gsa.gov/a/%2e%2E/c", "https://www.gsa.gov/c"],
    ["https://www.gsa.gov/%7Ejoe/%c3%bc", "https://www.gsa.gov/~joe/%C3%BC"],
    ["https://www.gsa.gov/ü b", "https://www.gsa.gov/%C3%BC%20b"],
    ["https://www.gsa.gov/9%2f11/", "https://www.gsa.gov/9%2F11/"],
    ["https://www.gsa.gov//a///b", "https://www.gsa.gov/a/b"],
    ["https://bücher.example/", "https://xn--bcher-kva.example/"],
    ["https://www.gsa.gov/a?b=2&a=2&a=1", "https://www.gsa.gov/a?a=2&a=1&b=2"],
  ])("%s is %s", (text, expected) => {
    expect(plain(text)).toBe(expected);
    expect(plain(expected)).toBe(expected);
  });

  it("keeps a slash at its end and its query: they may be other pages", () => {
    expect(plain("https://www.gsa.gov/a/")).not.toBe(plain("https://www.gsa.gov/a"));
    expect(plain("https://www.gsa.gov/a?id=1")).not.toBe(plain("https://www.gsa.gov/a?id=2"));
  });

  it("is read from where it stands", () => {
    expect(plain("../b?c=1", "https://www.gsa.gov/x/y/z")).toBe("https://www.gsa.gov/x/b?c=1");
    expect(plain("//cdn.gsa.gov/a", "https://www.gsa.gov/")).toBe("https://cdn.gsa.gov/a");
  });

  it.each([
    "mailto:a@b.gov",
    "javascript:void(0)",
    "ftp://a.gov/",
    "http://",
    "",
    "https://u:p@a.gov/",
    `/${"x".repeat(3000)}`,
  ])("%s is none that is crawled", (text) => {
    expect(plain(text, "https://www.gsa.gov/")).toBeNull();
  });
});

describe("C14: a trap", () => {
  it("is told by what repeats, by depth and by the number of parameters", () => {
    expect(trapOf("/a/a/a/")).toMatch(/3 times/);
    expect(trapOf(`/${"x/".repeat(5)}`)).toMatch(/3 times/);
    expect(trapOf(`/${Array.from({ length: 25 }, (_, n) => `s${n}`).join("/")}`)).toMatch(/folders deep/);
    expect(trapOf(`/f?${Array.from({ length: 13 }, (_, n) => `p${n}=1`).join("&")}`)).toMatch(/parameters/);
    expect(trapOf("/2026/01/01/01/a")).toBeNull();
  });

  it("has one shape, whatever its numbers and its query", () => {
    expect(shapeOf("/calendar?month=2026-01")).toEqual(shapeOf("/calendar?year=9&x=1"));
    expect(shapeOf("/event/12/3")).toEqual(shapeOf("/event/9/77"));
    expect(shapeOf("/event/12/3")).not.toEqual(shapeOf("/event/12/a3b"));
    expect(shapeOf("/about")).toBeNull();
  });
});

it("pictures, films and programs are not fetched", () => {
  expect(isText("/a.PNG")).toBe(false);
  expect(isText("/a.zip?x=1")).toBe(false);
  expect(isText("/a.pdf")).toBe(true);
  expect(isText("/a.v2")).toBe(true);
});
