/** The command line: all commands together, and what becomes of a mistake. */
import { Command, CommanderError } from "commander";
import { asTidemarkError, type ErrorCode } from "../errors.ts";
import { nearest } from "../spelling.ts";
import { addChange } from "./change.ts";
import { addConfig } from "./config.ts";
import { addDemo } from "./demo.ts";
import { addDoctor } from "./doctor.ts";
import { addFollow } from "./follow.ts";
import { addMessages } from "./messages.ts";
import { addMigrate } from "./migrate.ts";
import { addModel } from "./model.ts";
import { examples } from "./options.ts";
import { paint } from "./output.ts";
import { pause } from "./pause.ts";
import { addRebuild } from "./rebuild.ts";
import { refresh } from "./refresh.ts";
import { resume } from "./resume.ts";
import { addRole } from "./role.ts";
import { addSearch } from "./search.ts";
import { serve } from "./serve.ts";
import type { Shell } from "./shell.ts";
import { addStatus } from "./status.ts";
import { addUnfollow } from "./unfollow.ts";
import { up } from "./up.ts";
import { worker } from "./worker.ts";

/** Codes that mean: somebody has to type or set something else. */
const mistakes: ReadonlySet<ErrorCode> = new Set([
  ...(["ConfigInvalid", "InputInvalid", "NotFollowed", "StoreLocked"] as const),
  ...(["SchemaTooOld", "SchemaTooNew", "MigrationEdited"] as const),
]);

export function createProgram(shell: Shell): Command {
  const program = new Command("tidemark")
    .description("Keeps an index of other people's data fresh.")
    .version(shell.version)
    .configureOutput({ writeOut: (text) => shell.output.line(text.trimEnd()), writeErr: () => {} })
    .exitOverride()
    .showSuggestionAfterError(true);
  examples(program, [
    ["tidemark up --source ./mine.js", "run everything, with a source of your own"],
    ["tidemark follow my-feed KEY", "in a second terminal: follow something"],
    ["tidemark status", "see how it goes"],
    ["tidemark help status", "more about one command"],
  ]);
  for (const role of [up, worker, serve]) addRole(program, shell, role);
  addMigrate(program, shell);
  addFollow(program, shell);
  addUnfollow(program, shell);
  addStatus(program, shell);
  for (const change of [refresh, pause, resume]) addChange(program, shell, change);
  addSearch(program, shell);
  addMessages(program, shell);
  addRebuild(program, shell);
  addConfig(program, shell);
  addDoctor(program, shell);
  addModel(program, shell);
  addDemo(program, shell);
  for (const command of [...program.commands, ...program.commands.flatMap((one) => one.commands)])
    command.copyInheritedSettings(program);
  return program;
}

/** Runs one command line: 0 when all went well, 1 when something failed, 2 when a person has to say it differently. */
export async function runProgram(shell: Shell, words: string[]): Promise<0 | 1 | 2> {
  const program = createProgram(shell);
  if (words.length === 0) {
    program.outputHelp();
    return 2;
  }
  try {
    await program.parseAsync(words, { from: "user" });
    return 0;
  } catch (thrown) {
    if (thrown instanceof CommanderError) return afterCommander(shell, program, thrown, words);
    const error = asTidemarkError(thrown);
    shell.output.note(`${paint(shell.output, "red", "tidemark:")} ${sentenceOf(error.message)}`);
    if (error.code === "Unexpected" && error.cause instanceof Error) shell.output.note(error.cause.stack ?? "");
    return mistakes.has(error.code) ? 2 : 1;
  }
}

function afterCommander(shell: Shell, program: Command, error: CommanderError, words: string[]): 0 | 2 {
  if (error.exitCode === 0) return 0;
  if (error.code === "commander.help") return 2;
  const said = error.message.replace(/^error: /, "").split("\n");
  const names = program.commands.map((command) => command.name());
  const meant = error.code === "commander.unknownCommand" ? nearest(words[0] ?? "", names, 3) : null;
  const command = names.includes(words[0] ?? "") ? ` ${words[0]}` : "";
  const hint = meant ? `did you mean \`tidemark ${meant}\`?` : said[1]?.replace(/^\(|\)$/g, "");
  const more = hint ?? `\`tidemark help${command}\` says more.`;
  shell.output.note(
    `${paint(shell.output, "red", "tidemark:")} ${sentenceOf(said[0] ?? "")} ${more[0]?.toUpperCase()}${more.slice(1)}`,
  );
  return 2;
}

/** Begins and ends like a sentence, whoever said it. */
function sentenceOf(text: string): string {
  const trimmed = text.trim();
  const ended = /[.?!]$/.test(trimmed) ? trimmed : `${trimmed}.`;
  return `${ended[0]?.toUpperCase() ?? ""}${ended.slice(1)}`;
}
