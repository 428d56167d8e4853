/** `tidemark resume`: go on pulling something. */
import type { ChangeWords } from "./change.ts";

export const resume: ChangeWords = {
  verb: "resume",
  summary: "go on pulling something",
  description: "Goes on with a resource that is paused or parked.",
  done: "goes on",
};
