/** Sources from files of one's own (`--source ./mine.js`): loaded, and checked before anything relies on them. */
import { access } from "node:fs/promises";
import module from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";
import type { Source } from "./contract.ts";
import { TidemarkError } from "./errors.ts";

const wrong = (sentence: string, cause?: unknown) =>
  new TidemarkError("ConfigInvalid", sentence, cause === undefined ? {} : { cause });

/** The sources that come with Tidemark and those of the files given; no two of one name. */
export async function loadSources(own: readonly Source[], files: readonly string[]): Promise<Source[]> {
  if (files.length > 0) resolveOurselves(files.map(urlOf));
  const all = [...own];
  for (const file of files) {
    const source = await loadSource(file);
    if (all.some((other) => other.name === source.name))
      throw wrong(
        `${file} defines the source "${source.name}", and there is one of that name already: give it another.`,
      );
    all.push(source);
  }
  return all;
}

const urlOf = (file: string): string => pathToFileURL(path.resolve(file)).href;

async function loadSource(file: string): Promise<Source> {
  const full = path.resolve(file);
  await access(full).catch(() => {
    throw wrong(`There is no file ${file}: --source takes the path of a module such as ./mine.js.`);
  });
  let loaded: { default?: unknown; source?: unknown };
  try {
    loaded = (await import(urlOf(file))) as typeof loaded;
  } catch (cause) {
    throw wrong(`${file} cannot be loaded: ${whyNot(cause, full)}`, cause);
  }
  return checked(file, loaded.default ?? loaded.source);
}

function whyNot(cause: unknown, file: string): string {
  const code = (cause as { code?: unknown }).code;
  if (code === "ERR_UNKNOWN_FILE_EXTENSION" && /\.m?ts$/.test(file))
    return "this Node does not run TypeScript; use Node 22.18 or newer, or compile it to .js first.";
  if (cause instanceof SyntaxError) return `${cause.message} (write it as an ES module: .mjs, or "type": "module").`;
  return cause instanceof Error ? cause.message : String(cause);
}

/** What is needed to run it is there; what is wrong deeper inside shows when it is pulled. */
function checked(file: string, given: unknown): Source {
  const source = given as Partial<Source> | undefined;
  if (typeof source !== "object" || source === null)
    throw wrong(`${file} exports no source: end it with \`export default { name, kinds, follow }\`.`);
  const { name, kinds, follow } = source;
  if (typeof name !== "string" || !/^[a-z][a-z0-9-]{0,62}$/.test(name))
    throw wrong(
      `The name of the source in ${file} has to be lower-case letters, digits and hyphens, such as "my-feed".`,
    );
  if (typeof kinds !== "object" || kinds === null || Object.keys(kinds).length === 0)
    throw wrong(`The source "${name}" in ${file} has no kinds: it needs at least one.`);
  if (typeof follow !== "function")
    throw wrong(`The source "${name}" in ${file} has no follow(text): it says which resource a person means.`);
  for (const [kind, { cursor, schedule, upstream, pull, pullTogether, receive }] of Object.entries(kinds)) {
    const missing = Object.entries({ cursor, schedule, upstream }).find(([, part]) => part === undefined)?.[0];
    if (missing) throw wrong(`The kind "${kind}" of "${name}" in ${file} has no ${missing}.`);
    if (!pull && !pullTogether && !receive)
      throw wrong(
        `The kind "${kind}" of "${name}" in ${file} has neither pull, pullTogether nor receive, so it would do nothing.`,
      );
  }
  return source as Source;
}

interface Resolution {
  url: string;
  format?: string | null | undefined;
}
type Resolve = (
  specifier: string,
  context: unknown,
  next: (specifier: string, context: unknown) => Resolution,
) => Resolution;

let resolved = false;

/**
 * `import "tidemark"` in a source means this very package, wherever the file lies: a second copy would have its own classes,
 * and the file of a newcomer has no node_modules beside it.
 */
function resolveOurselves(files: string[]): void {
  if (resolved) return;
  resolved = true;
  const ending = path.extname(import.meta.url);
  const urls: Record<string, string | undefined> = {
    __proto__: null as never,
    tidemark: new URL(`./index${ending}`, import.meta.url).href,
    "tidemark/testing": new URL(`./testing/index${ending}`, import.meta.url).href,
    // What every source needs besides: its cursor is a zod schema, its SQL a tagged template.
    zod: import.meta.resolve("zod"),
    "sql-template-tag": import.meta.resolve("sql-template-tag"),
  };
  // A source is always an ES module; without a word from us a .js file beside no package.json is taken for something older.
  const asModule = (found: Resolution): Resolution => {
    const format = { ".js": "module", ".ts": "module-typescript" }[path.extname(found.url)];
    return files.includes(found.url) && format ? { ...found, format } : found;
  };
  const { registerHooks } = module as typeof module & { registerHooks?: (hooks: { resolve: Resolve }) => void };
  if (registerHooks) {
    registerHooks({ resolve: (specifier, context, next) => asModule(next(urls[specifier] ?? specifier, context)) });
    return;
  }
  // Before Node 22.15 hooks live in a thread of their own and can only be given as text.
  const hook = `const urls = Object.assign(Object.create(null), ${JSON.stringify(urls)}), files = ${JSON.stringify(files)};
    export async function resolve(specifier, context, next) {
      const found = await next(urls[specifier] ?? specifier, context);
      return files.includes(found.url) && found.url.endsWith(".js") ? { ...found, format: "module" } : found;
    }`;
  module.register(`data:text/javascript,${encodeURIComponent(hook)}`);
}
