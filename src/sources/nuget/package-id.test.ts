/** Checks ids: the same whatever their case by .NET's rules, and the words in them. */
import { describe, expect, it } from "vitest";
import { lowerId, wordsOf } from "./package-id.ts";

describe("D24: an id in lower case", () => {
  it.each([
    ["Newtonsoft.Json", "newtonsoft.json"],
    ["НАСТРОЙКИ", "настройки"],
    ["九幽", "九幽"],
    ["\u212Aelvin", "kelvin"],
    ["\u0130stanbul", "\u0130stanbul"],
    ["\u0131", "\u0131"],
    ["ΑΣ", "ας".replace("ς", "σ")],
    ["Straße", "straße"],
  ])("of %s is %s", (id, lower) => {
    expect(lowerId(id)).toBe(lower);
  });

  it("is as long as it was, and not normalised", () => {
    for (const id of ["\u0130", "é", "e\u0301", "ﬁ"]) expect([...lowerId(id)]).toHaveLength([...id].length);
    expect(lowerId("é")).not.toBe(lowerId("e\u0301"));
  });
});

describe("the words of an id", () => {
  it("are its dotted parts and what its capitals make of them", () => {
    expect(wordsOf("Microsoft.EntityFrameworkCore.SqlServer")).toEqual(
      expect.arrayContaining([
        "microsoft",
        "entityframeworkcore",
        "entity",
        "framework",
        "core",
        "sqlserver",
        "sql",
        "server",
      ]),
    );
    expect(wordsOf("System.IO.XMLReader2")).toEqual(
      expect.arrayContaining(["system", "io", "xmlreader2", "xml", "reader", "2"]),
    );
  });
});
