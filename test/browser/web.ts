/** Tests of the page of web pages and of the demo's buttons for them, each seen where it shows. */
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { PATIENCE_MS, type Rig } from "./rig.ts";

const WEB = "#/sources/web/page";

export function webTests(rig: () => Rig): void {
  async function press(page: Page, name: string, said: RegExp): Promise<void> {
    await page.goto(`${rig().url}/#/demo`);
    await page.getByRole("button", { name, exact: true }).click();
    await page.getByRole("status").getByText(said).waitFor();
  }
  /** A host is visited now, and not within half a minute. */
  const visit = (host: string, path: string) =>
    fetch(`${rig().url}/web/crawl`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ host, path, when: "now" }),
    });
  const urls = async (query: string) =>
    (await rig().api<{ results: { url: string }[] }>(`/web/search?${query}`)).results.map(({ url }) => url);
  const found = (page: Page) => page.getByRole("region", { name: "Pages found" });

  describe("the page of web pages", () => {
    it("finds pages by what one types, in a scope, with what was found marked", async () => {
      await expect
        .poll(() => urls("q=permit"), { timeout: PATIENCE_MS })
        .toContain("https://permits.riverton.gov/decks");
      const page = await rig().page(WEB);
      await page.getByRole("searchbox", { name: "Search" }).fill("decks");
      await found(page).getByRole("link", { name: "Permits for decks" }).waitFor();
      await found(page).locator("mark").first().waitFor();
      await page.getByRole("searchbox", { name: "in", exact: true }).fill("org");
      await page.getByText(/No page matches\. Try “decks” \(found elsewhere\)/).waitFor();
      await page.context().close();
    });

    it("tells of a host's pages why some cannot be found", async () => {
      const page = await rig().page(WEB);
      await page.getByRole("button", { name: "www.riverton.gov" }).click();
      await page.getByRole("row", { name: /\/drafts\/budget not found robots\.txt does not allow it/ }).waitFor();
      await page.getByRole("row", { name: /\/old-news not found moved to/ }).waitFor();
      await page.context().close();
    });
  });

  describe("the demo's buttons for web pages", () => {
    it("change and delete a page, and what is found follows", async () => {
      const page = await rig().page();
      await press(page, "Change a web page", /says something else/);
      await press(page, "Delete a web page", /gone for good/);
      await visit("permits.riverton.gov", "/fences");
      await visit("permits.riverton.gov", "/pools");
      await expect
        .poll(() => urls("q=surveyor"), { timeout: PATIENCE_MS })
        .toEqual(["https://permits.riverton.gov/fences"]);
      await expect
        .poll(() => urls("q=pools&in=gov/riverton/permits"), { timeout: PATIENCE_MS })
        .not.toContain("https://permits.riverton.gov/pools");
      await page.context().close();
    });
  });
}
