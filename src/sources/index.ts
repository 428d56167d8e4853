/** The list of sources that come with Tidemark: one line each. */
import type { Source } from "tidemark";
import githubIssues from "./github-issues/source.ts";
import goModules from "./go-modules/source.ts";
import nuget from "./nuget/source.ts";
import repositories from "./repositories/source.ts";
import web from "./web/source.ts";

export const sources: Source[] = [goModules, githubIssues, nuget, web, repositories];
