/** Tests run on the sources, against a real PostgreSQL that is started for them and an embedded one. */
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  resolve: {
    alias: [
      { find: /^tidemark$/, replacement: here("src/index.ts") },
      { find: /^tidemark\/testing$/, replacement: here("src/testing/index.ts") },
    ],
  },
  test: {
    include: ["src/**/*.test.ts", "test/**/*.test.ts"],
    globalSetup: ["test/global-setup.ts"],
    pool: "forks",
    maxWorkers: 2,
    // Generous: a slow machine is no failure.
    testTimeout: 240_000,
    hookTimeout: 240_000,
  },
});
