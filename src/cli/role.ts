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
