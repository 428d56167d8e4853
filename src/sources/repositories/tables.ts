/** The tables of this source. */
import { migrationsBeside, table } from "tidemark";

export const migrations = migrationsBeside(import.meta.url, "analyses");

export const repositories = table("repositories.repository", {
  columns: {
    resource_id: "bigint",
    key: "text",
    state: "text",
    reason: "text",
    moved_to: "text",
    head_oid: "text",
    head_ref: "text",
    head_at: "timestamptz",
    commit_oid: "text",
    analyser: "int",
    analysed_at: "timestamptz",
  },
  key: ["resource_id"],
  owner: "resource_id",
});

export const analyses = table("repositories.analysis", {
  columns: {
    resource_id: "bigint",
    commit_oid: "text",
    analyser: "int",
    analysed_at: "timestamptz",
    head_ref: "text",
    pack_bytes: "bigint",
    ms: "int",
    report: "jsonb",
  },
  key: ["resource_id", "commit_oid", "analyser"],
  owner: "resource_id",
});
