/** The tables of this source. */
import { migrationsBeside, table } from "tidemark";

export const migrations = migrationsBeside(import.meta.url, "web");

export const contents = table("web.content", {
  columns: { page_id: "bigint", resource_id: "bigint", tags: "int[]", texts: "text[]" },
  key: ["page_id"],
  owner: "resource_id",
});

/** What goes with a host. Content and vectors go with the page in the guestbook. */
export const owned_by_host = ["guestbook", "sitemap", "shape", "host"].map((name) => ({
  name: `web.${name}`,
  owner: "resource_id",
}));
