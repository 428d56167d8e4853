/** Crawlee as a crawler of one site: it keeps the title and the text of each page, as its own examples do. */
import { mkdtemp, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";

const [site, at_once] = process.argv.slice(2) as [string, string];
const storage = await mkdtemp(path.join(os.tmpdir(), "crawlee-"));
const name = "@crawlee/cheerio";
interface Page {
  $: (selector: string) => { text(): string };
  request: { url: string };
  enqueueLinks(): Promise<unknown>;
  pushData(data: object): Promise<void>;
}
type Made = new (
  options: object,
  configuration: object,
) => { run(urls: string[]): Promise<{ requestsFinished: number }> };
const { CheerioCrawler, Configuration } = (await import(name)) as {
  CheerioCrawler: Made;
  Configuration: new (options: object) => object;
};
const concurrency = Number(at_once);
const crawler = new CheerioCrawler(
  {
    minConcurrency: concurrency,
    maxConcurrency: concurrency,
    respectRobotsTxtFile: false,
    async requestHandler({ $, request, enqueueLinks, pushData }: Page) {
      await pushData({ url: request.url, title: $("title").text(), text: $("body").text() });
      await enqueueLinks();
    },
  },
  new Configuration({ storageClientOptions: { localDataDirectory: storage }, logLevel: 0, purgeOnStart: true }),
);
const begun = performance.now();
const { requestsFinished } = await crawler.run([`${site}/`]);
const ms = performance.now() - begun;
process.send!({ ms, pages: requestsFinished, rss: process.resourceUsage().maxRSS * 1024 });
await rm(storage, { recursive: true, force: true });
process.disconnect();
