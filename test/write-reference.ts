/** Writes the reference pages below docs/. */
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { pages, root } from "./reference.ts";

for (const [file, text] of Object.entries(pages)) await writeFile(path.join(root, file), await text());
