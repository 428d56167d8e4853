/** `tidemark up`: run everything in one process. */
import type { RoleWords } from "./role.ts";

export const up: RoleWords = {
  role: "up",
  summary: "run everything in this process",
  description:
    "Runs a worker and the HTTP server in this process: on the embedded database in TIDEMARK_DATA, or on the PostgreSQL that DATABASE_URL names. The schema is brought up to date first.",
  examples: [
    ["tidemark up", "everything, on the embedded database"],
    ["tidemark up --demo", "with pretend upstreams, to see it work"],
    ["tidemark up --source ./mine.js", "with a source of your own"],
    ["DATABASE_URL=postgresql://… tidemark up", "on a PostgreSQL"],
    ["TIDEMARK_PORT=9000 tidemark up", "on another port"],
  ],
};
