/** `tidemark rebuild` as a person types it: for a source that derives something, and for one that does not. */
import { expect, it } from "vitest";
import { testDatabase } from "../postgres.ts";
import { finished } from "./processes.ts";

it("makes what searches find anew, or says why not", { timeout: 300_000 }, async () => {
  const settings = { DATABASE_URL: (await testDatabase()).url };
  expect(await finished(["migrate"], settings)).toMatchObject({ code: 0 });
  const [web, nuget] = await Promise.all([
    finished(["rebuild", "web"], settings),
    finished(["rebuild", "nuget"], settings),
  ]);
  expect(web).toMatchObject({ code: 0, out: expect.stringContaining("web: 0 rows") });
  expect(nuget).toMatchObject({ code: 2, err: expect.stringContaining("derives nothing") });
});
