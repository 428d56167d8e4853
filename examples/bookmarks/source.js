/** A tiny source: the bookmarks that people share, and what the bookmarked pages say. */
import { every, feed, fresh, gone, kind, table } from "tidemark";
import { z } from "zod";

/** @import { Pull, Source, Upstream } from "tidemark" */

/** What is mirrored: one row for each bookmarked page. */
export const pages = table("bookmarks.page", {
  columns: { owner_id: "bigint", url: "text", title: "text", words: "int" },
  key: ["url"],
  owner: "owner_id",
});

/** … and a feed that says when each was first seen. */
const seen = table("bookmarks.seen", { columns: { url: "text", title: "text" }, key: ["url"] });
export const news = feed("bookmarks.news", seen);

const migrations = {
  steps: [
    {
      n: 1,
      name: "pages",
      sql: `
        create schema bookmarks;
        create table bookmarks.page (owner_id bigint not null, url text primary key, title text not null, words int not null);
        create index page_by_owner on bookmarks.page (owner_id);
        create table bookmarks.seen (url text primary key, title text not null, published_at timestamptz not null unique);`,
    },
  ],
};

/** What the upstream promises to send. */
const Listing = z.object({ bookmarks: z.array(z.object({ id: z.number(), url: z.string() })), more: z.boolean() });
const Page = z.object({ title: z.string(), words: z.number() });

/**
 * The source, for the API at `url`.
 * @returns {Source}
 */
export function bookmarks(url = "http://127.0.0.1:8787") {
  /**
   * Ten calls at once, then five a second: kept over all workers together.
   * @type {Upstream}
   */
  const upstream = { name: "bookmarks", budget: { shape: "pace", per_second: 5, burst: 10 } };

  /** One person's list, three bookmarks at a time. */
  const shelf = kind({
    upstream,
    schedule: every("1h"),
    cursor: z.object({ after: z.number() }).default({ after: 0 }),
    async *pull(pull) {
      for (;;) {
        const { after } = pull.cursor;
        const answer = await pull.fetch(`${url}/shelves/${encodeURIComponent(pull.resource.key)}?after=${after}`);
        if (answer.status === 404) return gone(`there is no shelf ${pull.resource.key}`);
        const { bookmarks, more } = answer.json(Listing);
        const found = bookmarks.map((b) => ({ kind: "page", key: b.url }));
        // The last part: what this listing did not find is no longer anybody's, and the next one begins anew.
        if (!more) {
          yield { children: { found, complete: true }, cursor: { after: 0 }, final: fresh() };
          return;
        }
        yield { children: { found }, cursor: { after: bookmarks.at(-1)?.id ?? after } };
      }
    },
  });

  /** @param {Pull} pull */
  const addressOf = (pull) => `${url}/page?url=${encodeURIComponent(pull.resource.key)}`;

  /** One bookmarked page. */
  const page = kind({
    upstream,
    schedule: every("1d"),
    cursor: z.object({ etag: z.string().nullable() }).default({ etag: null }),
    owns: [pages],
    /** The cheap check: has it changed since we read it? */
    async probe(pulls) {
      return Promise.all(
        pulls.map(async (pull) => {
          const { etag } = pull.cursor;
          if (etag === null) return { pull, unchanged: false };
          const answer = await pull.fetch(addressOf(pull), { method: "HEAD", headers: { "if-none-match": etag } });
          return { pull, unchanged: answer.status === 304 };
        }),
      );
    },
    async *pull(pull) {
      const answer = await pull.fetch(addressOf(pull));
      if (answer.status === 404) return gone("the page is no longer there");
      const { title, words } = answer.json(Page);
      const { key, resource_id } = pull.resource;
      yield {
        put: [pages.rows([{ owner_id: resource_id, url: key, title, words }])],
        publish: [news.entries([{ url: key, title }])],
        cursor: { etag: answer.headers.etag ?? null },
        final: fresh(),
      };
    },
  });

  return {
    name: "bookmarks",
    kinds: { shelf, page },
    migrations,
    follow(text) {
      return /^[a-z]+$/.test(text)
        ? { kind: "shelf", key: text }
        : `"${text}" is not the name of a shelf, such as ann.`;
    },
  };
}

export default bookmarks();
