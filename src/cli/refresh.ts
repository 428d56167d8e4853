/** `tidemark refresh`: pull something now. */
import type { ChangeWords } from "./change.ts";

export const refresh: ChangeWords = {
  verb: "refresh",
  summary: "pull something now",
  description:
    "Makes a resource due now, ahead of what is routine. Brings back what is parked. A wait that the upstream asked for still holds.",
  done: "is due now",
};
