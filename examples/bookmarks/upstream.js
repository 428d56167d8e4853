/** The pretend upstream of the example: a few shelves of bookmarks, for its tests and for trying it out. */
import { createServer } from "node:http";
import { fileURLToPath } from "node:url";

/** @import { Asked, Reply } from "tidemark/testing" */

/** @type {Record<string, string[]>} */
const shelves = {
  ann: ["tide tables", "harbour lights", "lobster pots", "sea charts", "knots", "fog signals", "buoys"],
  bob: ["knots", "boat varnish"],
};

const PART = 3;
/** @param {string} title */
const slug = (title) => title.replaceAll(" ", "-");

/**
 * What it answers: `{status, headers, body}` for a path and its query.
 * @param {Pick<Asked, "method" | "path" | "query" | "headers">} asked
 * @returns {Reply}
 */
export function answer({ method, path, query, headers }) {
  const shelf = /^\/shelves\/([a-z]+)$/.exec(path)?.[1];
  if (shelf !== undefined) {
    const titles = shelves[shelf];
    if (!titles) return { status: 404, body: { error: "no such shelf" } };
    const all = titles.map((title, i) => ({ id: i + 1, url: `https://pages.example/${slug(title)}` }));
    const rest = all.filter((b) => b.id > Number(query.get("after") ?? 0));
    return { body: { bookmarks: rest.slice(0, PART), more: rest.length > PART } };
  }
  const title = Object.values(shelves)
    .flat()
    .find((t) => query.get("url") === `https://pages.example/${slug(t)}`);
  if (path !== "/page" || !title) return { status: 404, body: { error: "no such page" } };
  const etag = `"${title.length}"`;
  if (headers["if-none-match"] === etag) return { status: 304, headers: { etag } };
  return { headers: { etag }, ...(method === "HEAD" ? {} : { body: { title, words: title.length * 100 } }) };
}

/** `node examples/bookmarks/upstream.js` serves it where the source looks for it, or at another port. */
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const server = createServer(
    ({ method = "GET", url: asked = "/", headers: { "if-none-match": etag = "" } }, response) => {
      const { pathname: path, searchParams: query } = new URL(asked, "http://localhost");
      const { status = 200, headers = {}, body } = answer({ method, path, query, headers: { "if-none-match": etag } });
      response.writeHead(status, { "content-type": "application/json", ...headers });
      response.end(body === undefined ? undefined : JSON.stringify(body));
    },
  );
  server.listen(Number(process.argv[2] ?? 8787), "127.0.0.1", () => {
    const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
    console.log(`bookmarks at http://127.0.0.1:${port}`);
  });
}
