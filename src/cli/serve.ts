/** `tidemark serve`: run the HTTP server alone. */
import type { RoleWords } from "./role.ts";

export const serve: RoleWords = {
  role: "serve",
  summary: "run the HTTP server alone, on PostgreSQL",
  description: "Answers from the mirror and takes what people change. Any number run side by side on one PostgreSQL.",
  examples: [
    ["DATABASE_URL=postgresql://… TIDEMARK_HOST=0.0.0.0 tidemark serve", "reachable from elsewhere; set tokens"],
  ],
};
