/** `tidemark demo`: make something happen at the pretend upstreams of a demo that is running. */
import type { Command } from "commander";
import { TidemarkError } from "../errors.ts";
import { type Api, remote } from "./api.ts";
import { answers } from "./opening.ts";
import { examples, jsonOption } from "./options.ts";
import { table } from "./output.ts";
import { readServerFile } from "./server-file.ts";
import { print, type Shell } from "./shell.ts";

interface Actions {
  actions: { action: string; title: string; says: string }[];
}

export function addDemo(program: Command, shell: Shell): void {
  const command = program
    .command("demo")
    .summary("make something happen in a running demo")
    .description(
      "Makes something happen at the pretend upstreams of a `tidemark up --demo` that is running: watch the dashboard meanwhile. Without ACTION: what there is.",
    )
    .argument("[ACTION]");
  examples(jsonOption(command), [
    ["tidemark up --demo", "first, in another terminal"],
    ["tidemark demo", "what can be made to happen"],
    ["tidemark demo push-tag", "a new version of a module"],
    ["tidemark demo take-down", "a minute without GitHub"],
  ]).action(async (action: string | undefined, options: { json?: boolean }) => {
    const api = await openDemo(shell);
    if (action === undefined) {
      const words = ({ actions }: Actions) =>
        table(
          ["action", "what it does"],
          actions.map((one) => [one.action, one.says]),
        );
      return print(shell, options, await api.get<Actions>("/api/demo"), words);
    }
    const done = await api.post<{ sentence: string }>(`/api/demo/${encodeURIComponent(action)}`);
    return print(shell, options, done, ({ sentence }) => [sentence]);
  });
}

/** The demo has a database of its own, and says beside it where it answers. */
async function openDemo({ environment, demo_data, clock }: Shell): Promise<Api> {
  const server = await readServerFile(environment.TIDEMARK_DATA || demo_data);
  if (server && (await answers(server.url, clock))) return remote(server.url, environment.TIDEMARK_ADMIN_TOKEN || null);
  throw new TidemarkError(
    "InputInvalid",
    "No demo is running here: start one with `tidemark up --demo`, and try again.",
  );
}
