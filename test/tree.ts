/** The files of this repository, as the walls look at them. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import type { SourceFile } from "./tokens.ts";

const root = path.resolve(import.meta.dirname, "..");
const left_out = new Set(["node_modules", "dist", ".git", ".tidemark"]);

/** Every file below the folders (or at the paths) given whose name ends in one of the endings. */
export function filesOf(places: readonly string[], endings: readonly string[]): SourceFile[] {
  return places
    .filter((place) => existsSync(path.join(root, place)))
    .flatMap((place) => pathsBelow(place))
    .filter((file) => endings.some((ending) => file.endsWith(ending)))
    .sort()
    .map((file) => ({ path: file, text: readFileSync(path.join(root, file), "utf8") }));
}

function pathsBelow(place: string): string[] {
  if (path.extname(place) !== "" || path.basename(place).startsWith(".")) return [place];
  return readdirSync(path.join(root, place), { withFileTypes: true })
    .filter(({ name }) => !left_out.has(name))
    .flatMap((entry) => {
      const below = path.posix.join(place, entry.name);
      return entry.isDirectory() ? pathsBelow(below) : [below];
    });
}
