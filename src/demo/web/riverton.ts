/** What the pretend web of the demo holds: a small city with its offices, and neighbours of every kind. */
import { makePdf } from "./pdf.ts";
import { links, Sites } from "./sites.ts";

export const FOLLOWED = ["*.riverton.gov", "www.harborview.org", "slow.ferry.net"];
const CITY = "www.riverton.gov";
export const PERMITS = "permits.riverton.gov";
const PARKS = "parks.riverton.gov";
const topics = [
  "fences",
  "garages",
  "sheds",
  "solar panels",
  "pools",
  "signs",
  "decks",
  "driveways",
  "kitchens",
  "porches",
];

export function fillRiverton(): Sites {
  const sites = new Sites();
  fillCity(sites);
  fillPermits(sites);
  sites
    .site(PARKS)
    .says("User-agent: *", "Crawl-delay: 1", "Disallow: /staff/", `Sitemap: https://${PARKS}/sitemap.xml`)
    .page("/", "Parks of Riverton", `<p>Twelve parks along the river.</p>${links("/picnics", "/staff/rota")}`)
    .page("/picnics", "Picnics and parties", "<p>A party of more than fifty needs a permit from the city.</p>")
    .page("/orchard", "The old orchard", "<p>Nobody links here; the sitemap knows it. Apples in September.</p>")
    .page("/staff/rota", "Rota", "<p>Not for robots.</p>")
    .sitemap("/sitemap.xml", [{ path: "/picnics" }, { path: "/orchard", lastmod: "2026-01-31" }]);
  sites
    .site("www.harborview.org")
    .page("/", "Harbor View Society", links("/history", "/café", "/calendar?month=1", `https://${PERMITS}/fences`))
    .page(
      "/history",
      "History of the harbor",
      "<p>Ships have landed here since 1702. The first permit to build a pier is from 1733.</p>",
    )
    .file(
      "/caf%C3%A9",
      Buffer.from(
        '<html><head><meta charset="windows-1252"><title>Caf\xe9</title></head><body><p>Cr\xe8me br\xfbl\xe9e</p></body></html>',
        "latin1",
      ),
      "text/html",
    );
  sites
    .site("slow.ferry.net")
    .page("/", "Ferry times", "<p>The ferry leaves on the hour. A permit is needed for bicycles.</p>");
  return sites;
}

function fillCity(sites: Sites): void {
  sites.site("riverton.gov").moves("/", `https://${CITY}/`).says("User-agent: *", "Allow: /");
  sites
    .site(CITY)
    .says("User-agent: *", "Disallow: /drafts/")
    .page(
      "/",
      "City of Riverton",
      `<p>Welcome.</p>${links("/council", "/report.pdf", "/old-news", "/drafts/budget", "/print", `https://${PERMITS}/`, `https://${PARKS}/`)}`,
    )
    .page(
      "/council",
      "City council",
      "<p>The council meets on Tuesdays, and decides on every building permit above five floors.</p>",
    )
    .page("/news", "News", "<p>The bridge is open again.</p>")
    .page(
      "/print",
      "City council",
      "<p>The council meets on Tuesdays, and decides on every building permit above five floors.</p>",
      { head: '<link rel="canonical" href="/council">' },
    )
    .moves("/old-news", "/news")
    .page("/drafts/budget", "Draft budget", "<p>Not yet.</p>")
    .file(
      "/report.pdf",
      makePdf("Annual report", [
        "The year in Riverton",
        "Permits: 412 were granted, 31 refused",
        "The river rose twice",
      ]),
      "application/pdf",
    );
}

function fillPermits(sites: Sites): void {
  const site = sites.site(PERMITS);
  const pathOf = (topic: string) => `/${topic.replaceAll(" ", "-")}`;
  site.page("/", "Permit office", `<p>Find out whether you need a permit.</p>${links(...topics.map(pathOf))}`);
  for (const [n, topic] of topics.entries())
    site.page(
      pathOf(topic),
      `Permits for ${topic}`,
      `<h2>Do I need one?</h2><p>You need a permit for ${topic} taller than ${n + 3} feet.</p><h2>What does it cost?</h2><ul><li>Application: ${20 + n} dollars</li><li>Inspection: free</li></ul>`,
    );
}
