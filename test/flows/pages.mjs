// A source as somebody outside would write it: the pages of web sites, by their addresses.
import sql from "sql-template-tag";
import { every, fresh, kind, table } from "tidemark";
import { z } from "zod";

const pages = table("pages.page", {
  columns: { url: "text", resource_id: "bigint", bytes: "int" },
  key: ["url"],
  owner: "resource_id",
});

/** @type {import("tidemark").Source} */
export default {
  name: "pages",
  migrations: {
    steps: [
      {
        n: 1,
        name: "page",
        sql: "create schema pages; create table pages.page (url text primary key, resource_id bigint not null, bytes int not null)",
      },
    ],
  },
  kinds: {
    page: kind({
      upstream: (key) => ({ name: new URL(key).host }),
      schedule: every("1h"),
      cursor: z.object({ pulls: z.number() }).default({ pulls: 0 }),
      owns: [pages],
      async *pull(pull) {
        const { resource, cursor } = pull;
        const { bytes } = await pull.fetch(resource.key);
        const row = { url: resource.key, resource_id: resource.resource_id, bytes: bytes.length };
        yield { put: [pages.rows([row])], cursor: { pulls: cursor.pulls + 1 }, final: fresh() };
      },
    }),
  },
  follow: (text) => (URL.canParse(text) ? { kind: "page", key: new URL(text).href } : `"${text}" is not an address.`),
  routes: (app, { read }) =>
    app.get("/pages", async (c) => c.json((await read.query(sql`select url, bytes from pages.page`)).rows)),
};
