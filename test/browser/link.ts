/** Tests of the link to the server, which start it anew and therefore come last: cut off, found again, locked, opened. */
import { describe, expect, it } from "vitest";
import type { Rig } from "./rig.ts";

const READ = "reader-0123456789abcdef";
const ADMIN = "admin-0123456789abcdef";
const VAULT = "github.com%2Fumbrella%2Fvault";

export function linkTests(rig: () => Rig): void {
  describe("the link", () => {
    it("says when it is cut off, keeps what it showed, and shows what happened in the meantime once it is back", async () => {
      const page = await rig().page("#/sources/go-modules?q=umbrella", { token: READ });
      const list = page.getByRole("region", { name: "Resources" });
      const row = list.getByRole("row", { name: /umbrella\/vault named/ });
      await row.waitFor();
      await rig().stop();
      await page.getByText("not connected").waitFor();
      await page.getByText(/The server does not answer\. What you see is from/).waitFor();
      await row.waitFor();
      // It comes back off loopback, where tokens are asked for: this page has one.
      await rig().start({ TIDEMARK_HOST: "0.0.0.0", TIDEMARK_READ_TOKEN: READ, TIDEMARK_ADMIN_TOKEN: ADMIN });
      expect((await rig().post(`/api/resources/go-modules/named/${VAULT}/pause`, ADMIN)).status).toBe(200);
      await page.getByText("live", { exact: true }).waitFor();
      await row.getByText("paused").waitFor();
      await page.getByText("not connected").waitFor({ state: "detached" });
      await page.context().close();
      // What could not be read while nobody answered the browser itself tells on the console.
      const others = rig().complaints.splice(0);
      expect(others.filter((text) => !/ERR_CONNECTION|ERR_INCOMPLETE|ERR_EMPTY/.test(text))).toEqual([]);
    });

    it("asks for a token where one is needed: one to read, one to change", async () => {
      const page = await rig().page(`#/resources/go-modules/named/${VAULT}`);
      await page.getByText(/Reading here needs/).waitFor();
      await page.getByLabel("Token").fill("wrong-0123456789abcdef");
      await page.getByRole("button", { name: "Go on" }).click();
      await page.getByText(/is not enough for that/).waitFor();
      await page.getByLabel("Token").fill(READ);
      await page.getByRole("button", { name: "Go on" }).click();
      await page.getByRole("button", { name: "Resume" }).click();
      const dialog = page.getByRole("dialog", { name: "A token is needed" });
      await dialog.getByText(/Changing anything here needs/).waitFor();
      await dialog.getByLabel("Token").fill(ADMIN);
      await dialog.getByRole("button", { name: "Go on" }).click();
      await page.getByText(/umbrella\/vault goes on/).waitFor();
      await page.context().close();
      expect(
        rig()
          .complaints.splice(0)
          .filter((text) => !text.includes("401")),
      ).toEqual([]);
    });
  });
}
