/** A source's own settings: checked where it declares them, refused where it does not. */
import { expect, it } from "vitest";
import { z } from "zod";
import { readConfig } from "./config.ts";
import type { Source } from "./contract.ts";
import { configureSources } from "./source-settings.ts";

function source(given: Partial<Source>): Source {
  return { name: "my-source", kinds: {}, follow: () => "no", ...given };
}

const config = (env: Record<string, string>) => readConfig(env, ["my-source"]);

it("reach the source as its schema reads them", () => {
  let got: unknown;
  const settings = z.object({ depth: z.coerce.number().default(3), name: z.string().default("n") });
  const made = source({ settings, configure: (s) => (got = s) });
  configureSources([made], config({ TIDEMARK_MY_SOURCE_DEPTH: "5" }));
  expect(got).toEqual({ depth: 5, name: "n" });
});

it("are refused with the setting's whole name", () => {
  const made = source({ settings: z.object({ depth: z.coerce.number("must be a number").default(3) }) });
  const env = { TIDEMARK_MY_SOURCE_DEPTH: "deep", TIDEMARK_MY_SOURCE_WIDTH: "1" };
  expect(() => configureSources([made], config(env))).toThrow(
    "The settings cannot be used: TIDEMARK_MY_SOURCE_DEPTH: must be a number; TIDEMARK_MY_SOURCE_WIDTH: is not a setting of my-source.",
  );
});

it("are refused by a source that has none", () => {
  expect(() => configureSources([source({})], config({ TIDEMARK_MY_SOURCE_DEPTH: "1" }))).toThrow(
    "TIDEMARK_MY_SOURCE_DEPTH: my-source has no settings",
  );
});
