/** `tidemark config`: every setting, its value, and where it came from. */
import type { Command } from "commander";
import { configWarnings, describeConfig, sourcePrefix } from "../config.ts";
import { examples, jsonOption, sourceOption } from "./options.ts";
import { paint, table } from "./output.ts";
import { type DataOptions, print, type Settings, type Shell } from "./shell.ts";

interface Row {
  name: string;
  value: string;
  from: string;
  meaning: string;
}

export function addConfig(program: Command, shell: Shell): void {
  const command = program
    .command("config")
    .summary("show every setting and where it came from")
    .description("Settings come from the environment and nowhere else. Secrets are masked.");
  examples(jsonOption(sourceOption(command)), [
    ["tidemark config", ""],
    ["TIDEMARK_LEASE_TTL=1m tidemark config", "see that a value is understood"],
  ]).action(async (options: DataOptions) => {
    const settings = await shell.settings(options.source ?? []);
    const rows = [...describeConfig(settings.config), ...sourceRows(settings)];
    const warnings = configWarnings(settings.config);
    print(shell, options, { settings: rows, warnings }, () => [
      ...table(
        ["setting", "value", "from", "meaning"],
        rows.map((row) => [row.name, row.value, row.from, row.meaning]),
      ),
      ...warnings.map((warning) => paint(shell.output, "yellow", `Warning: ${warning}`)),
    ]);
  });
}

/** A source's own settings; whether one of them is a secret is not known here, so none is shown. */
function sourceRows({ config, sources }: Settings): Row[] {
  return sources.flatMap(({ name, settings }) => {
    const given = config.source_settings[name] ?? {};
    const fields = Object.entries(settings?.shape ?? {}) as [string, { description?: string }][];
    return fields.map(([field, { description }]) => ({
      name: `${sourcePrefix(name)}${field.toUpperCase()}`,
      value: field in given ? "(set)" : "(not set)",
      from: field in given ? "environment" : "default",
      meaning: description ?? `a setting of ${name}`,
    }));
  });
}
