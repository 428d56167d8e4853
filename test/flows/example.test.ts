/** The example as its README tries it: its upstream in one process, Tidemark in another, a shelf that is followed. */
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { expect, inject, it } from "vitest";
import { finished, tidemark } from "./processes.ts";

const example = (file: string) => fileURLToPath(new URL(`../../examples/bookmarks/${file}`, import.meta.url));

it("mirrors a shelf and its pages from the upstream beside it", { timeout: 300_000 }, async () => {
  const upstream = spawn(process.execPath, [example("upstream.js"), "0"], { stdio: ["ignore", "pipe", "inherit"] });
  const settings = {
    TIDEMARK_DATA: path.join(inject("scratch"), randomUUID()),
    TIDEMARK_PORT: "0",
    TIDEMARK_ALLOW_PRIVATE: "127.0.0.1",
  };
  const source = path.join(inject("scratch"), `${randomUUID()}.mjs`);
  try {
    const url = /http:\S+/.exec(String(await once(upstream.stdout, "data")))![0];
    await writeFile(
      source,
      `import { bookmarks } from ${JSON.stringify(example("source.js"))}; export default bookmarks("${url}");`,
    );
    const up = tidemark(["up", "--source", source], settings);
    try {
      await up.says("Stop:    Ctrl-C");
      expect(await finished(["follow", "bookmarks", "ann"], settings)).toMatchObject({ code: 0, err: "" });
      // The shelf and its seven pages.
      for (const page of ["knots", "buoys", "fog-signals"])
        await up.says(`bookmarks page https://pages.example/${page} is fresh`);
      const status = await finished(["status", "bookmarks", "ann", "--json"], settings);
      expect(JSON.parse(status.out)).toMatchObject({ status: "waiting", children: 7, failures: 0 });
      up.signal("SIGTERM");
      expect(await up.ended).toBe(0);
    } finally {
      up.signal("SIGKILL");
      await up.ended;
    }
  } finally {
    upstream.kill("SIGKILL");
    await once(upstream, "exit");
  }
});
