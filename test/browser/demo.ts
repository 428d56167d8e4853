/** Tests of the demo's buttons, each seen where it shows: in the feed, as drift, as a closed budget, as an open breaker. */
import type { Page } from "playwright-core";
import { describe, it } from "vitest";
import type { Rig } from "./rig.ts";

const GO = "#/sources/go-modules/page";

export function demoTests(rig: () => Rig): void {
  /** Presses a button of the demo; what it did. */
  async function press(page: Page, name: string, said: RegExp): Promise<string> {
    await page.goto(`${rig().url}/#/demo`);
    await page.getByRole("button", { name }).click();
    const saying = page.getByRole("status").getByText(said);
    return ((await saying.textContent()) ?? "").replace(/Close$/, "");
  }
  const sweep = (key = "owner/github.com%2Facme") => rig().post(`/api/resources/go-modules/${key}/refresh`);

  describe("the demo", () => {
    it("pushes a tag, which comes into the feed while one looks", async () => {
      const page = await rig().page();
      const sentence = await press(page, "Push a tag", /was pushed/);
      const [, version, name] = /^(\S+) of (\S+) was pushed/.exec(sentence)!;
      await page.goto(`${rig().url}/${GO}`);
      await page.getByRole("searchbox", { name: "Below" }).fill(`github.com/${name}`);
      await page.getByRole("region", { name: "Versions", exact: true }).waitFor();
      await sweep();
      const row = new RegExp(`^github\\.com/${name} ${version!.replaceAll(".", "\\.")} available`);
      await page.getByRole("region", { name: "Versions", exact: true }).getByRole("row", { name: row }).waitFor();
      await page.context().close();
    });

    it("sends 429s, which close the upstream for everybody, and says until when", async () => {
      const page = await rig().page();
      await press(page, "Send 429s", /answers 429/);
      await page.goto(`${rig().url}/#/`);
      await page.getByRole("region", { name: "Upstreams" }).waitFor();
      await sweep();
      await page.getByText(/is closed, as it asked; it opens in/).waitFor();
      await press(page, "Bring GitHub back", /is well/);
      await page.context().close();
    });

    it("takes GitHub down, which opens the breaker", async () => {
      const page = await rig().page();
      await press(page, "Take GitHub down", /is down/);
      await page.goto(`${rig().url}/#/`);
      await page.getByRole("region", { name: "Upstreams" }).waitFor();
      // Each is tried by its schedule too; nobody is made to wait for that here.
      for (const key of ["globex%2Forders", "initech%2Freports", "umbrella%2Fvault"])
        await sweep(`named/github.com%2F${key}`);
      await page.getByRole("region", { name: "Upstreams" }).getByText("believed down").waitFor();
      await page.getByText(/is believed down; it is tested/).waitFor();
      await press(page, "Bring GitHub back", /is well/);
      await page.context().close();
    });
  });
}
