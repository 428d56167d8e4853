/** Tests of the page of NuGet packages and of the demo's buttons for them, each seen where it shows. */
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { PATIENCE_MS, type Rig } from "./rig.ts";

const NUGET = "#/sources/nuget/page";

/** Presses a button of the demo; what it did. */
async function press(rig: Rig, page: Page, name: string, said: RegExp): Promise<string> {
  await page.goto(`${rig.url}/#/demo`);
  await page.getByRole("button", { name, exact: true }).click();
  return (await page.getByRole("status").getByText(said).textContent()) ?? "";
}

/** The catalog is looked at now, and not within twenty seconds. */
async function look(rig: Rig): Promise<void> {
  const { resources } = await rig.api<{ resources: { key: string }[] }>("/api/resources?source=nuget&kind=catalog");
  await rig.post(`/api/resources/nuget/catalog/${encodeURIComponent(resources[0]!.key)}/refresh`);
}

const packages = (page: Page) => page.getByRole("region", { name: "Packages" });

async function search(rig: Rig, page: Page, q: string): Promise<void> {
  await page.goto(`${rig.url}/${NUGET}`);
  // Until it is loaded the list of resources is there, which has a search of its own.
  await packages(page).waitFor();
  await page.getByRole("searchbox", { name: "Search" }).fill(q);
}

export function nugetPageTests(rig: () => Rig): void {
  describe("the page of NuGet packages", () => {
    it("says how far behind it is, and finds packages by what one types", async () => {
      const page = await rig().page(NUGET);
      await page.getByText("up to date").waitFor();
      const { public: cursor } = await rig().api<{ public: string }>("/nuget/cursor");
      await page.getByText(cursor).first().waitFor();
      await page.getByRole("searchbox", { name: "Search" }).fill("schema");
      await packages(page)
        .getByRole("row", { name: /^Contoso\.Json\.Schema 2\.0\.0-preview\.1 listed 5/ })
        .waitFor();
      await expect.poll(() => packages(page).getByRole("row").count(), { timeout: PATIENCE_MS }).toBe(2);
      await page.getByRole("searchbox", { name: "Search" }).fill("no such thing");
      await page.getByText("No package matches.").waitFor();
      await page.context().close();
    });

    it("tells what is vulnerable and what is deprecated", async () => {
      const page = await rig().page();
      await search(rig(), page, "contoso.data");
      await packages(page)
        .getByRole("row", { name: /^Contoso\.Data\.Sqlite \S+ deprecated/ })
        .waitFor();
      await page.getByRole("searchbox", { name: "Search" }).fill("contoso.http");
      await packages(page)
        .getByRole("row", { name: /^Contoso\.Http \S+ vulnerable/ })
        .waitFor();
      await page.getByText("None: the catalog did nothing but what its protocol says.").waitFor();
      await page.getByText("None: everything up to the public cursor was handled.").waitFor();
      await page.context().close();
    });

    it.each([
      ["light", {}],
      ["dark", { dark: true }],
      ["phone", { phone: true }],
    ])("fits on the screen (%s)", async (_, screen) => {
      const page = await rig().page(NUGET, screen);
      await packages(page).getByText("Contoso.Json", { exact: true }).waitFor();
      const [wide, shown] = await page.evaluate<[number, number]>(
        "[document.documentElement.scrollWidth, document.documentElement.clientWidth]",
      );
      expect(wide).toBeLessThanOrEqual(shown);
      await page.context().close();
    });
  });
}

export function nugetDemoTests(rig: () => Rig): void {
  describe("the demo of NuGet", () => {
    it("publishes a package, which is found a moment later", async () => {
      const page = await rig().page();
      const [, id, version] = /^(\S+) (\S+) was published/.exec(
        await press(rig(), page, "Publish a package", /was published/),
      )!;
      await search(rig(), page, id!);
      await look(rig());
      await packages(page)
        .getByRole("row", { name: new RegExp(`^${id!.replaceAll(".", "\\.")} ${version}`) })
        .waitFor();
      await page.context().close();
    });

    it("unlists a version, lists it again, deletes one and pushes it again: the number of versions follows", async () => {
      const page = await rig().page();
      const row = (count: number) =>
        packages(page).getByRole("row", { name: new RegExp(`^Contoso\\.Json \\S+ listed ${count} `) });
      const changes = async (name: string, said: RegExp, change: number) => {
        const { data } = await rig().api<{ data: { id: string; versions: unknown[] }[] }>(
          "/nuget/v3/search?q=packageid:contoso.json&prerelease=true&semVerLevel=2.0.0",
        );
        await press(rig(), page, name, said);
        await search(rig(), page, "contoso.json");
        await look(rig());
        await row(data[0]!.versions.length + change).waitFor();
      };
      await changes("Unlist a version", /is no longer listed/, -1);
      await changes("List it again", /is listed again/, 1);
      await changes("Delete a version, or push it again", /was deleted/, -1);
      await changes("Delete a version, or push it again", /was pushed again/, 1);
      await page.context().close();
    });

    it("splits a commit over two pages, and both halves arrive", async () => {
      const page = await rig().page();
      const version = /^(\S+) of two packages/.exec(
        await press(rig(), page, "Split a commit over two pages", /on two pages/),
      )![1]!;
      await search(rig(), page, "contoso.http");
      await look(rig());
      await packages(page)
        .getByRole("row", { name: new RegExp(`^Contoso\\.Http ${version.replaceAll(".", "\\.")}`) })
        .waitFor();
      await search(rig(), page, "contoso.json");
      await packages(page)
        .getByRole("row", { name: new RegExp(`^Contoso\\.Json ${version.replaceAll(".", "\\.")}`) })
        .waitFor();
      await page.context().close();
    });

    it("publishes a version without its leaf, and the public cursor waits for it", async () => {
      const page = await rig().page();
      await press(rig(), page, "Publish a version whose leaf is missing", /without its leaf/);
      await page.goto(`${rig().url}/${NUGET}`);
      await look(rig());
      await page.getByText("1 event to handle").waitFor();
      await page.context().close();
    });
  });
}
