/** The commands that run until they are stopped: up, worker, serve. */
import type { Command } from "commander";
import { TidemarkError } from "../errors.ts";
import { examples, sourceOption } from "./options.ts";
import type { Role, Shell, SourceOptions } from "./shell.ts";

interface RoleWords {
  role: Role;
  summary: string;
  description: string;
  examples: [string, string][];
}

export const up: RoleWords = {
  role: "up",
  summary: "run everything in this process",
  description:
    "Runs a worker and the HTTP server in this process: on the embedded database in TIDEMARK_DATA, or on the PostgreSQL that DATABASE_URL names. The schema is brought up to date first.",
  examples: [
    ["tidemark up", "everything, on the embedded database"],
    ["tidemark up --source ./mine.js", "with a source of your own"],
    ["DATABASE_URL=postgresql://… tidemark up", "on a PostgreSQL"],
    ["TIDEMARK_PORT=9000 tidemark up", "on another port"],
  ],
};

export const worker: RoleWords = {
  role: "worker",
  summary: "run a worker alone, on PostgreSQL",
  description:
    "Pulls what falls due. Any number of workers run side by side on one PostgreSQL; SIGTERM lets pulls finish or hands them back, a second one hands them back at once. Serves only /metrics, /healthz and /readyz.",
  examples: [["DATABASE_URL=postgresql://… tidemark worker", "one more worker"]],
};

export const serve: RoleWords = {
  role: "serve",
  summary: "run the HTTP server alone, on PostgreSQL",
  description: "Answers from the mirror and takes what people change. Any number run side by side on one PostgreSQL.",
  examples: [
    ["DATABASE_URL=postgresql://… TIDEMARK_HOST=0.0.0.0 tidemark serve", "reachable from elsewhere; set tokens"],
  ],
};

export function addRole(program: Command, shell: Shell, words: RoleWords): void {
  const command = program.command(words.role).summary(words.summary).description(words.description);
  examples(sourceOption(command), words.examples).action(async (options: SourceOptions) => {
    const settings = await shell.settings(options.source ?? []);
    if (words.role !== "up" && settings.config.database_url === null)
      throw new TidemarkError(
        "ConfigInvalid",
        `\`tidemark ${words.role}\` needs DATABASE_URL: the embedded database belongs to one process, and \`tidemark up\` is that process.`,
      );
    await shell.run(words.role, settings);
  });
}
