/** Gives each source its own settings, checked by the schema that it declares. */
import { type Config, sourcePrefix } from "./config.ts";
import type { SharedSettings, Source } from "./contract.ts";
import { TidemarkError } from "./errors.ts";

type Given = Pick<
  Config,
  "source_settings" | "github_url" | "embeddings_url" | "embeddings_key" | "embeddings_model" | "data"
>;

/** Hands every source what the environment says to it; all mistakes of all sources in one sentence. */
export function configureSources(sources: Source[], config: Given): void {
  const mistakes: string[] = [];
  const { github_url, embeddings_url: url, embeddings_key: key, embeddings_model: model, data } = config;
  const shared: SharedSettings = { github_url, embeddings: { url, key, model }, data };
  for (const source of sources) {
    const given = config.source_settings[source.name] ?? {};
    const prefix = sourcePrefix(source.name);
    if (!source.settings) {
      for (const name of Object.keys(given))
        mistakes.push(`${prefix}${name.toUpperCase()}: ${source.name} has no settings`);
      continue;
    }
    const parsed = source.settings.strict().safeParse(given);
    if (parsed.success) source.configure?.(parsed.data, shared);
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
