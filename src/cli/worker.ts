/** `tidemark worker`: run a worker alone. */
import type { RoleWords } from "./role.ts";

export const worker: RoleWords = {
  role: "worker",
  summary: "run a worker alone, on PostgreSQL",
  description:
    "Pulls what falls due. Any number of workers run side by side on one PostgreSQL; SIGTERM lets pulls finish or hands them back, a second one hands them back at once. Serves only /metrics, /healthz and /readyz.",
  examples: [["DATABASE_URL=postgresql://… tidemark worker", "one more worker"]],
};
