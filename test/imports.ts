/** Which file imports which, the arrows that are allowed between folders, and cycles. */
import path from "node:path";
import { codeOf, type SourceFile } from "./tokens.ts";

export interface Import {
  from: string;
  line: number;
  /** As written. */
  specifier: string;
  /** The file it leads to, from the root of the repository; null for packages and Node's own modules. */
  to: string | null;
}

const own_names: Readonly<Record<string, string>> = {
  tidemark: "src/index.ts",
  "tidemark/testing": "src/testing/index.ts",
  "tidemark/dashboard": "src/dashboard/parts.ts",
};

/** Static, re-exporting, dynamic and type imports alike: `from "x"`, `import "x"`, `import("x")`. */
export function importsOf(file: SourceFile): Import[] {
  const tokens = codeOf(file);
  const found: Import[] = [];
  tokens.forEach((token, at) => {
    if (token.kind !== "string") return;
    const before = tokens[at - 1]?.text;
    const imports = before === "from" || before === "import" || (before === "(" && tokens[at - 2]?.text === "import");
    if (!imports) return;
    const specifier = token.text.slice(1, -1);
    const to = specifier.startsWith(".")
      ? path.posix.join(path.posix.dirname(file.path), specifier)
      : (own_names[specifier] ?? null);
    found.push({ from: file.path, line: token.line, specifier, to });
  });
  return found;
}

/**
 * What each area may import besides itself, packages and Node. `top` is the files directly in src, without those that
 * have a line of their own here. A folder that is not listed is refused until somebody has thought about it.
 */
const arrows: Readonly<Record<string, readonly string[] | "everything">> = {
  main: "everything",
  index: ["top", "contract", "engine", "github", "model", "mirror", "outbound", "store"],
  contract: ["top", "mirror", "store"],
  top: ["contract"],
  cli: ["top", "contract", "engine", "mirror", "model", "outbound", "store"],
  server: ["top", "contract", "engine", "mirror", "outbound", "store"],
  engine: ["top", "contract", "mirror", "outbound", "store"],
  outbound: ["top", "contract"],
  "parked-hook": ["top", "outbound"],
  github: ["top", "contract"],
  model: ["top", "store"],
  mirror: ["top", "contract", "store"],
  store: ["top"],
  testing: ["index", "top", "contract", "engine", "mirror", "store", "demo"],
  dashboard: ["top"],
  demo: [],
  "the list of sources": ["index", "a source"],
};

/** A file's area: its folder in src, or what it is when it lies directly there; null outside of src. */
export function areaOf(file: string): string | null {
  const parts = file.split("/");
  if (parts[0] !== "src") return null;
  if (parts.length === 2) return /^(main|index|contract|parked-hook)\.ts$/.exec(parts[1]!)?.[1] ?? "top";
  if (parts[1] !== "sources") return parts[1]!;
  return parts.length === 3 ? "the list of sources" : `source ${parts[2]}`;
}

/** Whether it is the page of a source: a part of the dashboard that lies with what it shows. */
export const isPage = (file: string): boolean => /^src\/sources\/[^/]+\/page(\.tsx$|\/)/.test(file);

export const isTest = (file: string): boolean => /\.test\.tsx?$/.test(file) || !file.startsWith("src/");

export function forbiddenArrows(files: readonly SourceFile[]): string[] {
  return files
    .filter((file) => !isTest(file.path))
    .flatMap(importsOf)
    .flatMap((one) => {
      const wrong = refusal(one);
      return wrong ? [`${one.from}:${one.line} imports ${one.specifier}: ${wrong}`] : [];
    });
}

function refusal({ from, specifier, to }: Import): string | null {
  if (to === null) return null;
  const area = areaOf(from)!;
  const target = areaOf(to);
  if (specifier.startsWith(".") && !/\.(tsx?|json|css)$/.test(to)) return "a relative import ends in .ts";
  if (target === null || isTest(to)) return "what is shipped cannot import what is not";
  if (isPage(from)) {
    if (specifier === "tidemark/dashboard" || target === area) return null;
    return 'the page of a source imports only preact, "tidemark/dashboard" and its own folder';
  }
  if (area.startsWith("source ")) {
    if (isPage(to)) return "a page is the dashboard's, which finds it by itself";
    if (specifier === "tidemark" || target === area) return null;
    return 'a source imports only "tidemark" and its own folder';
  }
  const allowed = arrows[area];
  if (allowed === undefined) return `${area} has no line in the arrows of test/imports.ts`;
  if (allowed === "everything" || target === area) return null;
  return allowed.includes(target.replace(/^source .*/, "a source")) ? null : `${area} may not import ${target}`;
}

/** Every group of files that import each other, directly or round a corner; types count too. */
export function importCycles(files: readonly SourceFile[]): string[] {
  const next = new Map(files.map((file) => [file.path, importsOf(file).flatMap(({ to }) => (to ? [to] : []))]));
  const done = new Set<string>();
  const cycles: string[] = [];
  const visit = (file: string, trail: string[]): void => {
    const seen_at = trail.indexOf(file);
    if (seen_at >= 0) cycles.push([...trail.slice(seen_at), file].join(" → "));
    if (seen_at >= 0 || done.has(file)) return;
    for (const to of next.get(file) ?? []) visit(to, [...trail, file]);
    done.add(file);
  };
  for (const file of next.keys()) visit(file, []);
  return cycles;
}

/** Packages that shipped code imports without package.json saying that they are installed with it. */
export function undeclaredPackages(files: readonly SourceFile[], declared: readonly string[]): string[] {
  return files
    .filter((file) => !isTest(file.path) && areaOf(file.path) !== "dashboard" && !isPage(file.path))
    .flatMap(importsOf)
    .filter(({ specifier, to }) => to === null && !specifier.startsWith("node:"))
    .filter(({ specifier }) => !declared.includes(packageOf(specifier)))
    .map((one) => `${one.from}:${one.line} imports ${one.specifier}, which is not among the dependencies`);
}

function packageOf(specifier: string): string {
  return specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");
}
