/** Reads from a go.mod file what module it is. */

/**
 * The path that a go.mod declares, or empty where the Go tool would find none. Problems elsewhere in the file do not matter here.
 * Only spaces, tabs and line ends separate words; a file that begins with a byte order mark is refused by the Go tool.
 */
export function declaredPath(text: string): string {
  if (text.startsWith("\uFEFF")) return "";
  let in_block = false;
  for (const raw of text.split("\n")) {
    const line = raw.replace(/\/\/.*/s, "").replace(/^[ \t\r]+|[ \t\r]+$/g, "");
    if (in_block) {
      if (line === ")") return "";
      if (line !== "") return unquoted(line);
      continue;
    }
    const [, path, bracket] = /^module(?:[ \t]+([^(].*)|[ \t]*(\())$/.exec(line) ?? [];
    if (path !== undefined) return unquoted(path);
    in_block = bracket !== undefined;
  }
  return "";
}

/** One word, or the text of one in double or back quotes; anything else is not a path. */
function unquoted(word: string): string {
  if (word.startsWith("`")) return /^`([^`]*)`$/.exec(word)?.[1] ?? "";
  if (!word.startsWith('"')) return /^[^\s"`()[\]{},]+$/.test(word) ? word : "";
  // What else Go can write in quotes, such as \x67, stands for letters that nobody writes so.
  return /^"([^"\\]*)"$/.exec(word)?.[1] ?? "";
}
