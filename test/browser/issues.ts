/** Tests of the page of GitHub issues and of the demo's buttons for them, each seen where it shows. */
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import type { Rig } from "./rig.ts";

const ISSUES = "#/sources/github-issues/page";

/** How these tests press, look and search. */
function hands(rig: () => Rig) {
  async function press(page: Page, name: string, said: RegExp): Promise<string> {
    await page.goto(`${rig().url}/#/demo`);
    await page.getByRole("button", { name, exact: true }).click();
    return (await page.getByRole("status").getByText(said).textContent()) ?? "";
  }

  /** A repository is looked at now, and not within half a minute. */
  const look = (kind: "repository" | "sweep", key: string) =>
    rig().post(`/api/resources/github-issues/${kind}/${encodeURIComponent(key)}/refresh`);

  const found = (page: Page) => page.getByRole("region", { name: "Issues" });
  async function search(page: Page, q: string): Promise<void> {
    await page.goto(`${rig().url}/${ISSUES}`);
    await found(page).waitFor();
    await page.getByRole("searchbox", { name: "Search" }).fill(q);
  }
  return { press, look, found, search };
}

export function issueTests(rig: () => Rig): void {
  const { press, look, found, search } = hands(rig);

  describe("the page of GitHub issues", () => {
    it("says how far each repository is, and finds issues by words and by meaning", async () => {
      const page = await rig().page(ISSUES);
      await page.getByText("found by words and by meaning").waitFor();
      await page
        .getByRole("region", { name: "Repositories" })
        .getByRole("row", { name: /^hooli\/editor synced, \S+ .*150 100\.0 %/ })
        .waitFor();
      await page.getByRole("searchbox", { name: "Search" }).fill("crash state:open");
      await found(page)
        .getByRole("row", { name: /crashes .*hooli\/(editor|terminal)#\d+ open/ })
        .first()
        .waitFor();
      await page.getByRole("searchbox", { name: "Search" }).fill('"qwxzjv"');
      await page.getByText("No issue is like that.").waitFor();
      await page.context().close();
    });

    it("finds an issue that was just filed, and what it says after an edit", async () => {
      const page = await rig().page();
      const filed = /^(\S+) was filed: (.+)\.$/.exec(
        (await press(page, "File an issue", /was filed/)).replace(/Close$/, ""),
      )!;
      await look("repository", "hooli/editor");
      await search(page, filed[1]!);
      await found(page).getByText(filed[1]!, { exact: true }).waitFor();
      const edited = /^(\S+) now speaks of (kernel panic number \d+)/.exec(
        await press(page, "Edit an issue", /now speaks/),
      )!;
      await look("repository", "hooli/editor");
      await search(page, `"${edited[2]}"`);
      await found(page).getByText(edited[1]!, { exact: true }).waitFor();
      await page.context().close();
    });
  });
}

export function issueChangeTests(rig: () => Rig): void {
  const { press, look, found, search } = hands(rig);

  describe("the page of GitHub issues, when something happens there", () => {
    it("shows no issue that was deleted, nor any of a repository that is private now", async () => {
      const page = await rig().page();
      const deleted = /^(\S+) was deleted/.exec(await press(page, "Delete an issue", /was deleted/))![1]!;
      await look("sweep", "hooli/editor");
      await search(page, deleted);
      await page.getByText("No issue is like that.").waitFor();
      await press(page, "Make a repository of issues private, or public again", /is private now/);
      await look("repository", "hooli/terminal");
      await search(page, "org:hooli repo:hooli/terminal");
      await page.getByText("No issue is like that.").waitFor();
      await page
        .getByRole("region", { name: "Repositories" })
        .getByText(/^It is private/)
        .waitFor();
      await press(page, "Make a repository of issues private, or public again", /is public again/);
      await look("repository", "hooli/terminal");
      await search(page, "repo:hooli/terminal crash");
      await found(page)
        .getByText(/^hooli\/terminal#\d+$/)
        .first()
        .waitFor();
      await page.context().close();
    });

    it("goes by words while the server of embeddings has had enough", async () => {
      const page = await rig().page();
      await press(page, "Let embeddings answer 429", /answers 429/);
      const { search_type, why } = await rig().api<{ search_type: string; why: string }>(
        "/issues/search?q=never+asked+before",
      );
      expect([search_type, why]).toEqual(["keyword", expect.stringMatching(/HTTP 429/)]);
      await page.context().close();
    });

    it.each([{}, { dark: true }, { phone: true }])("fits its screen: %o", async (looks) => {
      const page = await rig().page(ISSUES, looks);
      await found(page).waitFor();
      const wide = await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth");
      expect(wide).toBeLessThanOrEqual(0);
      await page.context().close();
    });
  });
}
