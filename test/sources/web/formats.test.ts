/** Bodies that are not pages: what can be read is found, what cannot is left out, and the next page is visited all the same. */
import { gzipSync } from "node:zlib";
import { afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { makePdf } from "../../../src/demo/web/pdf.ts";
import { links, type Site } from "../../../src/demo/web/sites.ts";
import { testDatabase } from "../../postgres.ts";
import { migrations, WebRig } from "./rig.ts";

let rig: WebRig;
let site: Site;
const HOST = "www.gsa.gov";

beforeAll(async () => {
  rig = new WebRig(await testDatabase({ migrations: migrations() }));
});
beforeEach(async () => {
  await rig.reset({ bytes_max: "100000" });
  site = rig.sites.site(HOST).page("/", "Home", links("/odd", "/well")).page("/well", "Wells", "<p>water</p>");
});
afterEach(() => rig.end());

it("a PDF is found by the page that the words are on, as one result", async () => {
  site.file("/odd", makePdf("Report", ["apples and pears", "apples alone, apples again", "nothing"]), "text/html");
  await rig.crawl(HOST);
  expect(await rig.urls("apples alone")).toEqual([`https://${HOST}/odd#page=2`]);
  expect(await rig.urls("apples")).toHaveLength(1);
  expect((await rig.search("pears")).results).toMatchObject([{ title: "Report", url: `https://${HOST}/odd#page=1` }]);
});

it.each([
  ["a picture", () => site.file("/odd", Buffer.from([1, 2, 3]), "image/png"), /not a text/],
  ["a PDF that is none", () => site.file("/odd", "%PDF-1.4 nonsense", "application/pdf"), /could not be read/],
  ["more than is taken", () => site.file("/odd", "x".repeat(200_000), "text/html"), /100000 bytes/],
  [
    "a bomb",
    () =>
      site.file("/odd", gzipSync(Buffer.alloc(5_000_000, 32)), "text/html", {
        headers: { "content-encoding": "gzip" },
      }),
    /100000 bytes/,
  ],
])("C16: %s is left out, and others are visited", async (_, make, reason) => {
  make();
  await rig.crawl(HOST);
  expect((await rig.pages(HOST))["/odd"]).toMatchObject({ reason: expect.stringMatching(reason), found: false });
  expect(await rig.urls("water")).toHaveLength(1);
  expect((await rig.status())[`host ${HOST}`]).toMatchObject({ status: "waiting", failures: 0 });
});

it.each(["cut", "hang"] as const)(
  "C16: a body that is %s is tried again, and stored only when it is whole",
  async (trouble) => {
    site.page("/odd", "Odd", "<p>apples</p>");
    let times = 0;
    rig.upstream.trouble = ({ path }) => (path === "/odd" && times++ < 1 ? { trouble } : null);
    await rig.followed(HOST);
    await rig.pass(5 * 60_000);
    expect(times).toBe(2);
    expect(await rig.urls("apples")).toHaveLength(1);
  },
);
