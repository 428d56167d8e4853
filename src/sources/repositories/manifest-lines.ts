/** Manifests that are read line by line: go.mod and requirements.txt. */
import type { Dependency, Needs } from "./report.ts";

export function readGoMod(text: string): Needs {
  let name: string | null = null;
  let within = "";
  const dependencies: Dependency[] = [];
  for (const raw of text.split("\n")) {
    const [code = "", comment = ""] = raw.split("//");
    const words = code.trim().split(/\s+/).filter(Boolean);
    if (words[0] === "module") name = unquoted(words[1] ?? "") || null;
    if (words[0] === ")") within = "";
    else if (words[1] === "(") within = words[0]!;
    else if (within === "require" || words[0] === "require") {
      const [path, version] = within === "require" ? words : words.slice(1);
      // What is only needed by what is needed says so.
      const scope = comment.trim() === "indirect" ? "optional" : "runtime";
      if (path && version) dependencies.push({ name: unquoted(path), version, scope });
    }
  }
  return { name, dependencies };
}

export function readRequirements(text: string): Needs {
  const dependencies: Dependency[] = [];
  for (const raw of text.replaceAll(/\\\r?\n/g, " ").split("\n")) {
    const required = readRequirement(raw.replace(/(^|\s)#.*$/, "").trim());
    if (required) dependencies.push({ ...required, scope: "runtime" });
  }
  return { name: null, dependencies };
}

/** One requirement as PEP 508 writes it; null for options, addresses and empty lines. */
export function readRequirement(text: string): { name: string; version: string | null } | null {
  const found = /^([A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:\[[^\]]*\])?\s*\(?\s*((?:[<>=!~]=?=?\s*[\w.*+!-]+\s*,?\s*)*)/.exec(
    text,
  );
  if (!found || /^[\w.-]+:\/\//.test(text)) return null;
  return { name: found[1]!, version: found[2]!.replaceAll(/\s+/g, "") || null };
}

const unquoted = (text: string): string => text.replaceAll(/^["`]|["`]$/g, "");
