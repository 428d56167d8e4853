/** `tidemark follow`: begin to follow something. */
import type { Command } from "commander";
import type { Named } from "../engine/verbs.ts";
import { withApi } from "./opening.ts";
import { examples, jsonOption, setOption, sourceOption } from "./options.ts";
import { type DataOptions, print, type Shell } from "./shell.ts";

interface FollowOptions extends DataOptions {
  set?: Record<string, unknown>;
}

export function addFollow(program: Command, shell: Shell): void {
  const command = program
    .command("follow")
    .summary("begin to follow something")
    .description("Follows what KEY names in SOURCE. Following it again changes nothing but its options.")
    .argument("<SOURCE>")
    .argument("<KEY>");
  examples(jsonOption(setOption(sourceOption(command))), [
    ["tidemark follow my-feed https://example.com/feed", "follow it"],
    ["tidemark follow my-feed https://example.com/feed --set every=1h", "… with an option of that kind"],
  ]).action(async (source: string, key: string, options: FollowOptions) => {
    const body = { source, key, ...(options.set ? { options: options.set } : {}) };
    const named = await withApi(shell, options, (api) => api.post<Named>("/api/follow", body));
    print(shell, options, named, () => [
      `Following ${named.source} ${named.kind} ${named.key}.`,
      `See how it goes: tidemark status ${named.source} ${quoted(named.key)}`,
    ]);
  });
}

/** As a shell takes it. */
export function quoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
