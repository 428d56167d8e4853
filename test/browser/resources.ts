/** Tests of what one can find and do: lists with filters, one resource in full, and every action. */
import { describe, expect, it } from "vitest";
import { PATIENCE_MS, type Rig } from "./rig.ts";

const OWNER = "#/resources/go-modules/owner/github.com%2Facme";

export function sourceTests(rig: () => Rig): void {
  describe("a source", () => {
    it("lists its resources by name, and narrows them by search, status and kind", async () => {
      const page = await rig().page("#/sources/go-modules");
      const list = page.getByRole("region", { name: "Resources" });
      await list.getByRole("link", { name: "github.com/acme", exact: true }).waitFor();
      await page.getByRole("searchbox", { name: "Search" }).fill("BILLING-kit");
      const rows = () => expect.poll(() => list.getByRole("row").count(), { timeout: PATIENCE_MS });
      await rows().toBe(2);
      await list.getByRole("link", { name: "github.com/acme/billing-kit" }).waitFor();
      await page.getByRole("searchbox", { name: "Search" }).fill("");
      await page.getByRole("combobox", { name: /^Kind/ }).selectOption("owner");
      await list.getByRole("link", { name: "github.com/acme", exact: true }).waitFor();
      await rows().toBe(2);
      await page.getByRole("combobox", { name: /^Status/ }).selectOption("paused");
      await page.getByText("Nothing matches.").waitFor();
      expect(page.url()).toContain("status=paused");
      await page.getByRole("link", { name: "Show all of go-modules" }).click();
      await list.getByRole("link", { name: "github.com/acme", exact: true }).waitFor();
      await page.context().close();
    });

    it("gives them a page at a time", async () => {
      const page = await rig().page("#/sources/go-modules");
      const first = page.getByRole("link", { name: "github.com/acme", exact: true });
      await first.waitFor();
      await page.getByRole("button", { name: "More", exact: true }).click();
      await first.waitFor({ state: "detached" });
      await page.getByRole("button", { name: "To the first" }).click();
      await first.waitFor();
      await page.context().close();
    });
  });
}

export function resourceTests(rig: () => Rig): void {
  describe("a resource", () => {
    it("says what happens next and why, its cursor, its lease and its children", async () => {
      const page = await rig().page(OWNER);
      await page.getByText(/next pull (in|now|\d).*every 30s/).waitFor();
      await page.getByText(/"whole": true/).waitFor();
      await page.getByRole("link", { name: /others/ }).waitFor();
      await page.context().close();
    });

    it("has the history of a repository's pulls", async () => {
      const page = await rig().page("#/sources/go-modules?q=ledger-api");
      await page.getByRole("link", { name: "github.com/acme/ledger-api" }).click();
      const pulls = page.getByRole("region", { name: "Pulls" });
      await pulls.getByText("fresh").first().waitFor();
      await page.getByRole("link", { name: "github.com/acme", exact: true }).waitFor();
      await page.context().close();
    });

    it("says what went wrong and what to do about it, and what waits in its mailbox", async () => {
      const page = await rig().page("#/follow");
      const message = { posted_at: "2026-11-16T05:00:00.000000Z", position: "7", tries: 5, payload: "{}" };
      const wrong = { code: "UpstreamForbids", sentence: "github.com refuses our credentials (HTTP 401)." };
      await page.route(/\/api\/resources\/.*acme$/, async (route) => {
        const one = (await (await route.fetch()).json()) as Record<string, unknown>;
        const parked = [
          { ...message, seq: "3", parked_at: message.posted_at, error: { sentence: "It made no sense." } },
        ];
        const waiting = [{ ...message, seq: "4", parked_at: null, error: null }];
        const tidemark = { position: "6", internal: "9", anomalies: "0", moved_at: message.posted_at, skipped: [] };
        await route.fulfill({
          json: { ...one, failures: 3, error: wrong, mail: "1", mailbox: { waiting, parked }, tidemark },
        });
      });
      await page.goto(`${rig().url}/${OWNER}`);
      const trouble = page.getByRole("region", { name: "What went wrong" });
      await trouble.getByText(/UpstreamForbids after 3 failures: github.com refuses/).waitFor();
      await trouble.getByText(/Check the credentials for that host.*GITHUB_TOKENS/).waitFor();
      const messages = page.getByRole("region", { name: "Messages" });
      await messages
        .getByRole("row", { name: /It made no sense/ })
        .getByRole("button", { name: "Try again" })
        .waitFor();
      await page.getByText(/Everything up to 6 is in the mirror; 9 was read/).waitFor();
      await page.context().close();
    });
  });
}

export function actionTests(rig: () => Rig): void {
  describe("a resource of one's own", () => {
    it("is refreshed, paused and resumed", async () => {
      const page = await rig().page(OWNER);
      await page.getByRole("button", { name: "Refresh" }).click();
      await page.getByText("github.com/acme is due now.").waitFor();
      await page.getByRole("button", { name: "Pause" }).click();
      await page.getByText(/paused since/).waitFor();
      await page.getByRole("button", { name: "Resume" }).click();
      await page.getByText("github.com/acme goes on.").waitFor();
      await page.getByRole("button", { name: "Pause" }).waitFor();
      await page.context().close();
    });

    it("is followed, comes to its first result while one looks, and is unfollowed", async () => {
      const page = await rig().page("#/follow?source=go-modules");
      await page.getByRole("textbox", { name: "Key" }).fill("not a name");
      await page.getByRole("button", { name: "Follow", exact: true }).click();
      await page.getByText(/is neither an owner such as github.com\/acme/).waitFor();
      expect(rig().complaints.splice(0)).toEqual([expect.stringContaining("400")]);
      await page.getByRole("textbox", { name: "Key" }).fill("https://github.com/acme/auth");
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { name: "github.com/acme/auth" }).waitFor();
      await page.locator("dt:text-is('fresh') + dd", { hasText: /ago|now/ }).waitFor();
      await page.getByRole("button", { name: "Unfollow" }).click();
      await page.getByRole("button", { name: "Keep" }).click();
      await page.getByRole("button", { name: "Unfollow" }).click();
      await page.getByRole("group", { name: "Unfollow?" }).getByRole("button", { name: "Unfollow" }).click();
      await page.getByText(/is no longer followed/).waitFor();
      await page.getByText("not by itself").waitFor();
      await page.context().close();
    });
  });
}
