/** `tidemark pause`: stop pulling something. */
import type { ChangeWords } from "./change.ts";

export const pause: ChangeWords = {
  verb: "pause",
  summary: "stop pulling something",
  description: "Stops pulling a resource until `tidemark resume`. What is mirrored stays.",
  done: "is paused",
};
