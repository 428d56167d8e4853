/** `tidemark unfollow`: end following something. */
import type { Command } from "commander";
import type { Named } from "../engine/verbs.ts";
import { withApi } from "./opening.ts";
import { examples, jsonOption, sourceOption } from "./options.ts";
import { type DataOptions, print, type Shell } from "./shell.ts";

interface UnfollowOptions extends DataOptions {
  kind?: string;
}

export function addUnfollow(program: Command, shell: Shell): void {
  const command = program
    .command("unfollow")
    .summary("end following something")
    .description(
      "Ends following KEY. It is gone with what it brought forth, unless something else still needs it; its records are deleted bit by bit.",
    )
    .argument("<SOURCE>")
    .argument("<KEY>")
    .option("--kind <kind>", "which one, where several kinds have this key");
  examples(jsonOption(sourceOption(command)), [["tidemark unfollow my-feed https://example.com/feed", ""]]).action(
    async (source: string, key: string, options: UnfollowOptions) => {
      const body = { source, key, ...(options.kind === undefined ? {} : { kind: options.kind }) };
      const done = await withApi(shell, options, (api) => api.post<Named & { gone: number }>("/api/unfollow", body));
      print(shell, options, done, ({ gone }) => [
        `No longer following ${done.source} ${done.kind} ${done.key}.`,
        gone === 0 ? "It lives on, because something else brought it forth." : `${gone} resources are gone with it.`,
      ]);
    },
  );
}
