/** `tidemark status`: what is going on, in all, in one source, or with one resource. */
import type { Command } from "commander";
import type { Overview } from "../engine/overview.ts";
import { hasCode } from "../errors.ts";
import { type Api, resourcePath } from "./api.ts";
import { type BudgetsAnswer, budgetWords } from "./budget-words.ts";
import { findOne } from "./change.ts";
import { withApi } from "./opening.ts";
import { examples, jsonOption, readCount, sourceOption } from "./options.ts";
import { paint } from "./output.ts";
import type { DataOptions, Shell } from "./shell.ts";
import {
  listWords,
  overviewWords,
  type ResourceAnswer,
  resourceWords,
  type SourceAnswer,
  sourceWords,
} from "./words.ts";

const WATCH_MS = 1_000;

interface StatusOptions extends DataOptions {
  watch?: boolean;
  kind?: string;
  status?: string;
  search?: string;
  limit: number;
}

export function addStatus(program: Command, shell: Shell): void {
  const command = program
    .command("status")
    .summary("what is fresh, due, parked, and what happens next")
    .description(
      "Without arguments: every source. With SOURCE: that source and its resources. With KEY too: that resource in full, with what happens next and why.",
    )
    .argument("[SOURCE]")
    .argument("[KEY]")
    .option("--kind <kind>", "only this kind")
    .option("--status <status>", "only waiting, due, leased, parked, paused or gone")
    .option("--search <text>", "only keys that contain this")
    .option("--limit <number>", "how many resources to list", readCount, 20)
    .option("--watch", "a live screen, until Ctrl-C");
  examples(jsonOption(sourceOption(command)), [
    ["tidemark status", "everything"],
    ["tidemark status my-feed --status parked", "what is parked, and why"],
    ["tidemark status my-feed https://example.com/feed", "one resource in full"],
    ["tidemark status --watch", "the same, live"],
    ["tidemark status --json --watch", "a line of JSON a second"],
  ]).action(async (source: string | undefined, key: string | undefined, options: StatusOptions) => {
    await withApi(shell, options, async (api) => {
      const look = () => linesOf(shell, api, source, key, options);
      if (options.watch) return watch(shell, options, look);
      for (const line of await look()) shell.output.line(line);
    });
  });
}

/** Looks again and again. Who watches a screen is told when nobody answers, and sees it go on; a program is not lied to. */
async function watch(shell: Shell, options: StatusOptions, look: () => Promise<string[]>): Promise<never> {
  let last: string[] = [];
  for (;;) {
    try {
      last = await look();
      if (options.json) for (const line of last) shell.output.line(line);
      else shell.output.frame([...last, "", "Ctrl-C ends this."]);
    } catch (thrown) {
      if (options.json || last.length === 0 || !hasCode(thrown, "StoreDown")) throw thrown;
      const told = `${thrown.message} It is asked again each second; above is what it said last.`;
      shell.output.frame([...last, "", paint(shell.output, "yellow", told)]);
    }
    await shell.clock.sleep(WATCH_MS);
  }
}

async function linesOf(
  shell: Shell,
  api: Api,
  source: string | undefined,
  key: string | undefined,
  options: StatusOptions,
): Promise<string[]> {
  const { output } = shell;
  if (source === undefined) {
    const all = await api.get<Overview & { database: string; version: string }>("/api/status");
    const { budgets, breakers } = await api.get<BudgetsAnswer>("/api/budgets");
    return said(options, { ...all, budgets, breakers }, (answer) => [
      ...overviewWords(output, answer),
      ...budgetWords(output, answer),
    ]);
  }
  if (key === undefined) {
    const one = await api.get<SourceAnswer>(`/api/sources/${encodeURIComponent(source)}`);
    const list = await listSome(api, source, options);
    return said(options, { ...one, ...list }, () => [
      ...sourceWords(output, one),
      "",
      ...listWords(output, list, one.now),
    ]);
  }
  const found = await findOne(api, source, key, options.kind);
  const full = await api.get<ResourceAnswer>(resourcePath(found));
  return said(options, full, (answer) => resourceWords(output, answer));
}

/** With --watch each JSON answer is one line, so that programs can read them as they come. */
function said<T>(options: StatusOptions, answer: T, words: (answer: T) => string[]): string[] {
  if (!options.json) return words(answer);
  return [options.watch ? JSON.stringify(answer) : JSON.stringify(answer, null, 2)];
}

type Listed = Parameters<typeof listWords>[1];

/** Pages until as many are there as were asked for: a page may be short and not the last. */
async function listSome(api: Api, source: string, options: StatusOptions): Promise<Listed> {
  const { limit } = options;
  const resources: Listed["resources"] = [];
  let next: string | null = "0";
  while (next !== null && resources.length < limit) {
    const query = new URLSearchParams({ source, after: next, limit: String(Math.min(500, limit - resources.length)) });
    if (options.kind !== undefined) query.set("kind", options.kind);
    if (options.status !== undefined) query.set("status", options.status);
    if (options.search !== undefined) query.set("q", options.search);
    const page: Listed = await api.get(`/api/resources?${query}`);
    resources.push(...page.resources);
    next = page.next;
  }
  return { resources, next };
}
