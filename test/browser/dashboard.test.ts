/** The dashboard in a real browser, over the demo. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { Rig } from "./rig.ts";

let rig: Rig;

beforeAll(async () => {
  rig = await Rig.open();
});
afterAll(() => rig.close());
afterEach(() => {
  expect(rig.complaints.splice(0)).toEqual([]);
  expect(rig.outside).toEqual([]);
});

describe("the overview", () => {
  it("shows each source with its numbers, live", async () => {
    const page = await rig.page();
    await page.getByText("live", { exact: true }).waitFor();
    await page.getByRole("region", { name: "Sources" }).getByRole("link", { name: "go-modules" }).waitFor();
    await page.context().close();
  });
});
