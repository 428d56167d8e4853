/** The list of sources that come with Tidemark: one line each. */
import type { Source } from "tidemark";

export const sources: Source[] = [];
