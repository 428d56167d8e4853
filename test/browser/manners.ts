/** Tests of how the dashboard behaves: fast, small, readable by everybody, and honest about what it does not know. */
import { readdir, readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import type { Rig } from "./rig.ts";

const BYTES_MOST = 100 * 1024;
/** What has to be there before anything is shown. */
const FIRST_BYTES_MOST = 30 * 1024;
const built = new URL("../../dist/dashboard/", import.meta.url);
const axe = createRequire(import.meta.url).resolve("axe-core/axe.min.js");

interface Finding {
  id: string;
  impact: string;
  nodes: { html: string }[];
}

export function readingTests(rig: () => Rig): void {
  /** What to look at, and what is there when it is ready. */
  const pages = [
    ["the overview", "#/", "section[aria-label=Budgets]"],
    ["a source", "#/sources/go-modules?q=billing", "section[aria-label=Resources]"],
    ["the page of Go modules", "#/sources/go-modules/page", "section[aria-label=Conflicts]"],
    ["a resource", "#/resources/go-modules/owner/github.com%2Facme", "dl"],
    ["the form to follow", "#/follow", "form"],
    ["the demo", "#/demo", "dl"],
  ] as const;
  /** In the dark only the colours are others; on a phone only the places. */
  const looks = [
    [{}, "axe.run({ resultTypes: ['violations'] })"],
    [{ dark: true }, "axe.run({ runOnly: ['color-contrast'], resultTypes: ['violations'] })"],
    [{ phone: true }, null],
  ] as const;

  describe("every page", () => {
    it.each(pages)("is readable in light, dark and on a phone, by everybody: %s", async (_, hash, ready) => {
      const script = await readFile(axe, "utf8");
      for (const [look, check] of looks) {
        const page = await rig().page(hash, look);
        await page.locator(ready).first().waitFor();
        if (check !== null) {
          await page.evaluate(script);
          const { violations } = (await page.evaluate(check)) as { violations: Finding[] };
          const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
          expect(serious.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`)).toEqual([]);
        }
        // Nothing but tables scrolls sideways.
        expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
        await page.context().close();
      }
    });
  });
}

export function mannersTests(rig: () => Rig): void {
  describe("the dashboard", () => {
    const zipped = async (name: string) => gzipSync(await readFile(new URL(name, built))).length;
    const sum = (sizes: number[]) => sizes.reduce((all, size) => all + size, 0);

    it("is small, and what it begins with is smaller", async () => {
      const names = (await readdir(new URL("assets/", built))).map((name) => `assets/${name}`);
      const all = sum(await Promise.all(["index.html", ...names].map(zipped)));
      const page = await readFile(new URL("index.html", built), "utf8");
      const first = sum(await Promise.all(names.filter((name) => page.includes(name)).map(zipped)));
      expect(first).toBeGreaterThan(10_000);
      expect(first).toBeLessThan(FIRST_BYTES_MOST);
      expect(all).toBeLessThan(BYTES_MOST);
    });

    it("shows how it stands as soon as the server says it, and waits for nothing else", async () => {
      const page = await rig().page("#/follow");
      await page.route(/history|budgets|leases|plot-/, () => undefined);
      await page.getByRole("link", { name: "Overview", exact: true }).click();
      await page.getByRole("region", { name: "Sources" }).waitFor();
      await page.getByText("Reading the history …").waitFor();
      await page.context().close();
    });

    it("says where there is nothing, and what to do", async () => {
      const page = await rig().page("#/resources/go-modules/owner/github.com%2Fnobody");
      await page
        .getByRole("alert")
        .getByText(/There is no go-modules owner github.com\/nobody/)
        .waitFor();
      await page.getByRole("link", { name: "Follow it" }).waitFor();
      await page.goto(`${rig().url}/#/sources/nothing`);
      await page.getByText('There is no source "nothing"').waitFor();
      await page.goto(`${rig().url}/#/nowhere`);
      await page.getByRole("heading", { name: "There is no such page" }).waitFor();
      expect(
        rig()
          .complaints.splice(0)
          .every((text) => text.includes("404")),
      ).toBe(true);
      await page.context().close();
    });
  });
}
