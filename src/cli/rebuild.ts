/** `tidemark rebuild`: make what searches find anew from what is stored. */
import type { Command } from "commander";
import { withApi } from "./opening.ts";
import { examples, jsonOption, sourceOption } from "./options.ts";
import { type DataOptions, print, type Shell } from "./shell.ts";

export function addRebuild(program: Command, shell: Shell): void {
  const command = program
    .command("rebuild")
    .summary("make what searches find anew from what is stored")
    .description(
      "Goes through the mirror of a source part by part and derives again what searches use, without a call upstream. It may be stopped and begun anew at any time.",
    )
    .argument("<SOURCE>");
  examples(jsonOption(sourceOption(command)), [["tidemark rebuild web", "the vectors of all pages"]]).action(
    async (source: string, options: DataOptions) => {
      const rows = await withApi(shell, options, async (api) => {
        let part: string | null = null;
        let written = 0;
        do {
          const path = `/api/sources/${encodeURIComponent(source)}/rebuild`;
          const done: { rows: number; next: string | null } = await api.post(path, { part });
          written += done.rows;
          part = done.next;
        } while (part !== null);
        return written;
      });
      print(shell, options, { source, rows }, () => [
        `${source}: ${rows} rows were other than before, and are written anew.`,
      ]);
    },
  );
}
