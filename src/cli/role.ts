/** What the commands that run until they are stopped have in common. */
import type { Command } from "commander";
import { TidemarkError } from "../errors.ts";
import { examples, sourceOption } from "./options.ts";
import type { Role, Shell, SourceOptions } from "./shell.ts";

export interface RoleWords {
  role: Role;
  summary: string;
  description: string;
  examples: [string, string][];
}

export function addRole(program: Command, shell: Shell, words: RoleWords): void {
  const command = program.command(words.role).summary(words.summary).description(words.description);
  if (words.role === "up") command.option("--demo", "with pretend upstreams on loopback: no network, no keys");
  examples(sourceOption(command), words.examples).action(async (options: SourceOptions & { demo?: boolean }) => {
    if (options.demo) return runDemo(shell, options.source ?? []);
    const settings = await shell.settings(options.source ?? []);
    if (words.role !== "up" && settings.config.database_url === null)
      throw new TidemarkError(
        "ConfigInvalid",
        `\`tidemark ${words.role}\` needs DATABASE_URL: the embedded database belongs to one process, and \`tidemark up\` is that process.`,
      );
    await shell.run(words.role, settings);
  });
}

async function runDemo(shell: Shell, source_files: string[]): Promise<void> {
  const demo = await shell.demo();
  try {
    await shell.run("up", await shell.settings(source_files, demo.environment), demo);
  } finally {
    await demo.close();
  }
}
