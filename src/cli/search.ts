/** `tidemark search`: issues by words and by meaning, as /issues/search finds them. */
import type { Command } from "commander";
import { withApi } from "./opening.ts";
import { examples, jsonOption, readCount, sourceOption } from "./options.ts";
import { paint } from "./output.ts";
import { type DataOptions, print, type Shell } from "./shell.ts";

interface Result {
  repository: string;
  number: number;
  title: string;
  state: string;
  comments: number;
  updated_at: string;
  labels: string[];
  url: string;
  snippet: string;
  score: number | null;
}

interface Answer {
  results: Result[];
  next: string | null;
  fresh_at: string | null;
  search_type: string;
  why: string | null;
}

export function addSearch(program: Command, shell: Shell): void {
  const command = program
    .command("search")
    .summary("find issues by words and by meaning")
    .description(
      'Words and phrases, and operators: title:"" body:"" author: label:"" state: repo: org:, each with - before it for the opposite. What begins with - goes after --.',
    )
    .argument("<QUERY...>")
    .option("--limit <number>", "how many results", readCount, 10)
    .option("--after <next>", "the page after the one that gave this");
  examples(jsonOption(sourceOption(command)), [
    ['tidemark search "window goes black"', "by words and by meaning"],
    ["tidemark search crash on start repo:microsoft/vscode state:open", "in one repository"],
    ["tidemark search TypeError: x is not a function", "the very text of an error"],
    ["tidemark search -- crash -label:duplicate", "without those that are duplicates"],
  ]).action(async (words: string[], options: DataOptions & { limit: number; after?: string }) => {
    const after: Record<string, string> = options.after === undefined ? {} : { after: options.after };
    const query = new URLSearchParams({ q: words.map(asTyped).join(" "), limit: String(options.limit), ...after });
    const answer = await withApi(shell, options, (api) => api.get<Answer>(`/issues/search?${query}`));
    print(shell, options, answer, (told) => lines(shell, told));
  });
}

/** The shell took the quotation marks of `title:"a b"` away: what has blanks after an operator gets them back. */
function asTyped(word: string): string {
  const operator = /^(-?[a-z]+:)(.*\s.*)$/is.exec(word);
  return operator && !operator[2]!.includes('"') ? `${operator[1]}"${operator[2]}"` : word;
}

function lines(shell: Shell, { results, next, search_type, why }: Answer): string[] {
  const told = results.flatMap((one) => [
    `${paint(shell.output, "bold", `${one.repository}#${one.number}`)}  ${one.title}`,
    `    ${[one.state, `${one.comments} comments`, `updated ${one.updated_at.slice(0, 10)}`, ...one.labels].join(" · ")}`,
    ...(one.snippet === "" ? [] : [`    ${one.snippet.replace(/\s+/g, " ").slice(0, 200)}`]),
    `    ${one.url}`,
  ]);
  return [
    ...(results.length === 0 ? ["Nothing was found."] : told),
    ...(search_type === "keyword" && why !== null ? ["", `By words alone. ${why}`] : []),
    ...(next === null ? [] : ["", `More: --after ${next}`]),
  ];
}
