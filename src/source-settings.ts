/** Gives each source its own settings, checked by the schema that it declares. */
import { type Config, sourcePrefix } from "./config.ts";
import type { Source } from "./contract.ts";
import { TidemarkError } from "./errors.ts";

/** Hands every source what the environment says to it; all mistakes of all sources in one sentence. */
export function configureSources(sources: Source[], config: Pick<Config, "source_settings" | "github_url">): void {
  const mistakes: string[] = [];
  for (const source of sources) {
    const given = config.source_settings[source.name] ?? {};
    const prefix = sourcePrefix(source.name);
    if (!source.settings) {
      for (const name of Object.keys(given))
        mistakes.push(`${prefix}${name.toUpperCase()}: ${source.name} has no settings`);
      continue;
    }
    const parsed = source.settings.strict().safeParse(given);
    if (parsed.success) source.configure?.(parsed.data, { github_url: config.github_url });
    else
      for (const { code, path, message, ...issue } of parsed.error.issues) {
        const names = code === "unrecognized_keys" ? (issue as { keys: string[] }).keys : [path.join("_")];
        const why = code === "unrecognized_keys" ? `is not a setting of ${source.name}` : message;
        for (const name of names) mistakes.push(`${prefix}${name.toUpperCase()}: ${why}`);
      }
  }
  if (mistakes.length > 0)
    throw new TidemarkError("ConfigInvalid", `The settings cannot be used: ${mistakes.join("; ")}.`, {
      details: { mistakes },
    });
}
