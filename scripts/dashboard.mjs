// Builds the dashboard, with the page of each source that has one, into the folder given.
import path from "node:path";
import { build } from "vite";

const root = path.resolve(import.meta.dirname, "..");

export function buildDashboard(out = path.join(root, "dist", "dashboard")) {
  return build({
    configFile: false,
    root: path.join(root, "src", "dashboard"),
    logLevel: "warn",
    oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
    resolve: { alias: { "tidemark/dashboard": path.join(root, "src", "dashboard", "parts.ts") } },
    build: {
      outDir: out,
      emptyOutDir: true,
      target: "es2022",
      // The first that know light-dark(), which chooses each colour by the reader's system.
      cssTarget: ["chrome123", "firefox120", "safari17.5"],
      // Everything is a file of its own: the policy of the page allows nothing inline.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
    },
  });
}

if (process.argv[1] === import.meta.filename) await buildDashboard();
