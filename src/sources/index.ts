/** The list of sources that come with Tidemark: one line each. */
import type { Source } from "tidemark";
import goModules from "./go-modules/source.ts";
import nuget from "./nuget/source.ts";

export const sources: Source[] = [goModules, nuget];
