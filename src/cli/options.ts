/** Options that several commands share, and how what people type is read. */
import { type Command, InvalidArgumentError } from "commander";

const gather = (value: string, all: string[] = []): string[] => [...all, value];

/** Every command that has to do with sources can load some from files. */
export function sourceOption(command: Command): Command {
  return command.option(
    "--source <file>",
    "load a source of your own from a module; may be given several times",
    gather,
  );
}

export function jsonOption(command: Command): Command {
  return command.option("--json", "print JSON, for programs");
}

/** `--set name=value`, several times; true, false and numbers are what they look like, the rest is text. */
export function setOption(command: Command): Command {
  return command.option("--set <name=value>", "an option of what is followed; may be given several times", gatherSet);
}

export function gatherSet(text: string, all: Record<string, unknown> = {}): Record<string, unknown> {
  const at = text.indexOf("=");
  if (at <= 0) throw new InvalidArgumentError(`Write it as name=value, such as every=1h, not "${text}".`);
  return { ...all, [text.slice(0, at)]: readValue(text.slice(at + 1)) };
}

function readValue(text: string): unknown {
  if (text === "true" || text === "false") return text === "true";
  const number = Number(text);
  return /^-?\d+(\.\d+)?$/.test(text) && String(number) === text ? number : text;
}

/** A whole number that is at least one. */
export function readCount(text: string): number {
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text);
  throw new InvalidArgumentError(`Give a whole number such as 50, not "${text}".`);
}

/** Lines of an example, each with what it does. */
export function examples(command: Command, lines: readonly (readonly [string, string])[]): Command {
  const width = Math.max(...lines.map(([example]) => example.length));
  const shown = lines.map(([example, meaning]) => `  ${example.padEnd(width)}  ${meaning}`.trimEnd());
  return command.addHelpText("after", `\nExamples:\n${shown.join("\n")}`);
}
