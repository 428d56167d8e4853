/** Tests of the overview: numbers, charts, budgets, workers, and that they change while one looks. */
import { describe, expect, it } from "vitest";
import type { Rig } from "./rig.ts";

export function overviewTests(rig: () => Rig): void {
  describe("the overview", () => {
    it("shows sources, history, upstreams, budgets and workers with what the API says", async () => {
      const page = await rig().page();
      const sources = page.getByRole("region", { name: "Sources" });
      await sources.getByRole("link", { name: "go-modules" }).waitFor();
      await page.getByRole("img", { name: /pulls in the last full minute/ }).waitFor();
      await page.getByRole("img", { name: /Fresh now: .*go-modules/ }).waitFor();
      await page.getByRole("region", { name: "Upstreams" }).getByText("github.com").waitFor();
      await page.getByRole("region", { name: "Budgets" }).getByText("5,000 in 1 h").waitFor();
      await page.getByRole("region", { name: "Workers" }).getByText(/of 64/).waitFor();
      const { sources: said } = await rig().api<{ sources: { followed: number }[] }>("/api/status");
      await sources
        .getByRole("cell", { name: String(said[0]!.followed), exact: true })
        .first()
        .waitFor();
      await page.context().close();
    });

    it("can be looked at over other spans of time", async () => {
      const page = await rig().page();
      const span = page.getByRole("combobox", { name: /^The last/ });
      await Promise.all([page.waitForRequest(/history\?hours=168/), span.selectOption("7 days")]);
      await page.getByRole("img", { name: /pulls in the last full minute/ }).waitFor();
      await page.context().close();
    });

    it("changes while one looks, without being asked", async () => {
      const page = await rig().page();
      const sources = page.getByRole("region", { name: "Sources" });
      await sources.getByRole("link", { name: "go-modules" }).waitFor();
      await rig().post("/api/resources/go-modules/named/github.com%2Fglobex%2Forders/pause");
      // The number of paused ones is a link to them.
      await sources.getByRole("link", { name: "1", exact: true }).and(page.locator("[href*=paused]")).waitFor();
      await rig().post("/api/resources/go-modules/named/github.com%2Fglobex%2Forders/resume");
      await sources.locator("[href*=paused]").waitFor({ state: "detached" });
      await page.context().close();
    });

    it("leads by the keyboard to a source, where the focus is then", async () => {
      const page = await rig().page();
      await page.getByRole("region", { name: "Sources" }).getByRole("link", { name: "go-modules" }).focus();
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { level: 1, name: "go-modules" }).waitFor();
      expect(await page.evaluate("document.activeElement.tagName")).toBe("MAIN");
      expect(await page.title()).toBe("go-modules · Tidemark");
      await page.goBack();
      await page.getByRole("heading", { level: 2, name: "Sources" }).waitFor();
      await page.reload();
      await page.getByRole("button", { name: "Skip to the page" }).waitFor();
      await page.keyboard.press("Tab");
      await page.keyboard.press("Enter");
      expect(await page.evaluate("document.activeElement.tagName")).toBe("MAIN");
      await page.context().close();
    });
  });
}
