/** `tidemark messages`: messages that failed too often, and another try for one of them. */
import type { Command } from "commander";
import { TidemarkError } from "../errors.ts";
import { withApi } from "./opening.ts";
import { examples, jsonOption, sourceOption } from "./options.ts";
import { table } from "./output.ts";
import { type DataOptions, print, type Shell } from "./shell.ts";

interface Parked {
  resource_id: string;
  seq: string;
  source: string;
  kind: string;
  key: string;
  tries: number;
  parked_at: string;
  error: { code?: string; sentence?: string } | null;
}

export function addMessages(program: Command, shell: Shell): void {
  const messages = program
    .command("messages")
    .summary("list parked messages, or give one another try")
    .description("A message that failed too often is parked, so that its mailbox goes on without it.");
  const list = messages.command("list", { isDefault: true }).description("List parked messages, the newest first.");
  list.argument("[SOURCE]");
  examples(jsonOption(sourceOption(list)), [["tidemark messages", "all of them"]]).action(
    async (source: string | undefined, options: DataOptions) => {
      const query = new URLSearchParams({ parked: "", limit: "500", ...(source === undefined ? {} : { source }) });
      const answer = await withApi(shell, options, (api) => api.get<{ messages: Parked[] }>(`/api/messages?${query}`));
      print(shell, options, answer, words);
    },
  );
  const retry = messages.command("retry").description("Give a parked message another try, at the end of its mailbox.");
  retry.argument("<RESOURCE_ID>").argument("<SEQ>");
  examples(jsonOption(sourceOption(retry)), [["tidemark messages retry 42 7", "message 7 of resource 42"]]).action(
    async (resource_id: string, seq: string, options: DataOptions) => {
      if (![resource_id, seq].every((number) => /^\d{1,18}$/.test(number)))
        throw new TidemarkError(
          "InputInvalid",
          "Give the two numbers that `tidemark messages` shows, such as: tidemark messages retry 42 7",
        );
      const path = `/api/messages/${resource_id}/${seq}/retry`;
      const answer = await withApi(shell, options, (api) => api.post<{ seq: string | null }>(path));
      print(shell, options, answer, ({ seq: again }) => [
        again === null
          ? "A newer message had taken its place, so it was dropped."
          : `It waits its turn as message ${again}.`,
      ]);
    },
  );
}

function words({ messages }: { messages: Parked[] }): string[] {
  if (messages.length === 0) return ["No message is parked."];
  const rows = messages.map((m) => [
    m.resource_id,
    m.seq,
    `${m.source} ${m.kind} ${m.key}`,
    String(m.tries),
    m.parked_at.slice(0, 19).replace("T", " "),
    m.error?.sentence ?? m.error?.code ?? "",
  ]);
  return table(["resource", "message", "to", "tries", "parked at", "why"], rows);
}
