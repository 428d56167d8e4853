/** Keeps the reference pages equal to the code that they describe. */
import { readFile } from "node:fs/promises";
import path from "node:path";
import { expect, it } from "vitest";
import { pages, root } from "./reference.ts";

it.each(Object.entries(pages))("%s says what the code says (`npm run reference` writes it)", async (file, text) => {
  expect(await readFile(path.join(root, file), "utf8")).toBe(await text());
});

it("describes at least what every installation has", async () => {
  const [settings, metrics, http] = await Promise.all(Object.values(pages).map((text) => text()));
  expect(settings).toContain("`TIDEMARK_LEASE_TTL` | 30s |");
  expect(metrics).toContain("| `tidemark_oldest_due_seconds` | gauge |");
  expect(http).toContain("## POST /api/follow");
});
