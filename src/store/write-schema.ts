/** Writes schema.sql at the root of the repository, from an empty database and the migrations. */
import { writeFile } from "node:fs/promises";
import { openEmbedded } from "./embedded.ts";
import { schemaText } from "./schema-file.ts";

const db = await openEmbedded({ thread: false });
await writeFile(new URL("../../schema.sql", import.meta.url), await schemaText(db));
await db.close();
