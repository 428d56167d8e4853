/** Which databases are taken. */
import { describe, expect, it } from "vitest";
import type { Queryable, Result } from "./db.ts";
import { openStore, requireVersion } from "./open.ts";

const server = (version: number): Queryable => ({
  query: async <R>() => ({ rows: [{ version }], count: 1 }) as Result<R>,
});

describe("a store", () => {
  it("is refused when it is a PostgreSQL before 15, with a sentence", async () => {
    await expect(requireVersion(server(14))).rejects.toMatchObject({ code: "ConfigInvalid" });
    await expect(requireVersion(server(14))).rejects.toThrow(/PostgreSQL 14; Tidemark needs 15 or newer/);
    await requireVersion(server(15));
  });

  it("is embedded without a url", async () => {
    const db = await openStore({ data: "memory://" });
    expect(db.kind).toBe("embedded");
    await db.close();
  });
});
