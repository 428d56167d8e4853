/** What the commands that do one thing to one resource have in common. */
import type { Command } from "commander";
import type { Named } from "../engine/verbs.ts";
import { TidemarkError } from "../errors.ts";
import { type Api, resourcePath } from "./api.ts";
import { withApi } from "./opening.ts";
import { examples, jsonOption, sourceOption } from "./options.ts";
import { type DataOptions, print, type Shell } from "./shell.ts";

export interface ChangeWords {
  verb: "refresh" | "pause" | "resume";
  summary: string;
  description: string;
  done: string;
}

interface ChangeOptions extends DataOptions {
  kind?: string;
}

export function addChange(program: Command, shell: Shell, words: ChangeWords): void {
  const command = program
    .command(words.verb)
    .summary(words.summary)
    .description(words.description)
    .argument("<SOURCE>")
    .argument("<KEY>")
    .option("--kind <kind>", "which one, where several kinds have this key");
  examples(jsonOption(sourceOption(command)), [[`tidemark ${words.verb} my-feed https://example.com/feed`, ""]]).action(
    async (source: string, key: string, options: ChangeOptions) => {
      const named = await withApi(shell, options, async (api) => {
        const one = await findOne(api, source, key, options.kind);
        return api.post<Named>(`${resourcePath(one)}/${words.verb}`);
      });
      print(shell, options, named, ({ kind }) => [`${named.source} ${kind} ${named.key} ${words.done}.`]);
    },
  );
}

/** The one resource that a person means. */
export async function findOne(api: Api, source: string, key: string, kind: string | undefined): Promise<Named> {
  const query = new URLSearchParams({ source, key, ...(kind === undefined ? {} : { kind }) });
  const { resources } = await api.get<{ resources: Named[] }>(`/api/resources?${query}`);
  const [one, ...others] = resources;
  if (!one)
    throw new TidemarkError(
      "NotFollowed",
      `There is no "${key}" in ${source}. \`tidemark status ${source}\` lists what is there.`,
    );
  if (others.length === 0) return one;
  const kinds = resources.map((found) => found.kind).join(", ");
  throw new TidemarkError("InputInvalid", `"${key}" is the key of several kinds; say which with --kind (${kinds}).`);
}
