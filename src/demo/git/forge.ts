/** The repositories of the demo's git host, in several languages and with tests of each, and what one can make happen to them. */
import type { Action } from "../actions.ts";
import { type Files, GitHost } from "./host.ts";

export const FORGE = "git.example";
const DAY_S = 86_400;
const BROWSER = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0";
const people = ["Ann Example <ann@example.com>", "Bob Example <bob@example.com>", "Cleo Example <cleo@example.com>"];

const licence = `MIT License

Permission is hereby granted, free of charge, to any person obtaining a copy of this software, to deal in it without restriction,
provided that the above copyright notice and this permission notice are included in all copies.
`;

const lighthouse: Files = {
  LICENSE: licence,
  "package.json": '{"name":"lighthouse","dependencies":{"zod":"^4.0.0"},"devDependencies":{"vitest":"^4.0.0"}}\n',
  "src/beam.ts": "export const beam = (degrees: number): number => ((degrees % 360) + 360) % 360;\n",
  "src/beam.test.ts": `import { describe, expect, it } from "vitest";
import { beam } from "./beam.ts";

describe("a beam", () => {
  it("turns", () => expect(beam(370)).toBe(10));
  it.each([0, 90, 180])("points to %i", (degrees) => expect(beam(degrees)).toBe(degrees));
  it.skip("is seen in fog", () => {});
});
`,
};

const harbour: Files = {
  LICENSE: licence,
  "pyproject.toml":
    '[project]\nname = "harbour"\ndependencies = ["httpx>=0.27", "pydantic"]\n\n[dependency-groups]\ndev = ["pytest"]\n',
  "harbour/berth.py": "def free(berths, ship):\n    return [b for b in berths if b.length >= ship.length]\n",
  "tests/test_berth.py": `import pytest


class TestBerth:
    def test_fits(self):
        assert True

    @pytest.mark.parametrize("length", [10, 20])
    def test_is_too_short(self, length):
        assert length < 30
`,
};

const sextant: Files = {
  LICENSE: licence,
  "go.mod": "module git.example/acme/sextant\n\ngo 1.24\n\nrequire github.com/google/go-cmp v0.7.0\n",
  "angle.go": "package sextant\n\n// Angle is in minutes.\ntype Angle int\n",
  "angle_test.go": `package sextant

import "testing"

func TestAngle(t *testing.T) {
	for _, c := range []struct{ name string }{{"zero"}, {"one"}} {
		t.Run(c.name, func(t *testing.T) {})
	}
}
`,
};

const names = { lighthouse, harbour, sextant } as const;
export const REPOSITORIES = Object.keys(names).map((name) => `acme/${name}`);

/** A host with all of them; each has a little history. */
export async function openForge(now_s: number): Promise<GitHost> {
  const host = await GitHost.open();
  await Promise.all(
    Object.entries(names).map(async ([name, files], n) => {
      await host.create(`acme/${name}`);
      const older = people.map((author, i) => ({
        files: { "README.md": `# ${name}\n\n${"It is kept by the sea. ".repeat(i + 1)}\n` },
        author,
        at_s: now_s - (90 - 20 * i - n) * DAY_S,
      }));
      await host.push(`acme/${name}`, ...older, { files, author: people[n]!, at_s: now_s - DAY_S });
    }),
  );
  return host;
}

/** What is done takes git a moment; it is under way when it is said. */
export function forgeActions(host: GitHost, now_s: () => number): Record<string, Action> {
  const repository = "acme/lighthouse";
  let no = 0;
  let hidden = false;
  let last: Promise<unknown> = Promise.resolve();
  const soon = (work: () => Promise<unknown>) => {
    last = last.then(work, work).catch(() => undefined);
  };
  const change = (): Files => {
    no += 1;
    return { [`src/lamp-${no}.test.ts`]: `import { it } from "vitest";\nit("lamp ${no} is lit", () => {});\n` };
  };
  return {
    "push-commit": {
      title: "Push a commit",
      says: `A test more in ${FORGE}/${repository}: the next check finds HEAD elsewhere, and it is analysed again.`,
      act: () => {
        const files = change();
        soon(() => host.push(repository, { files, author: people[no % 3]!, at_s: now_s() }));
        return `A commit was pushed to ${repository}.`;
      },
    },
    "force-push": {
      title: "Force-push",
      says: "Its history is written anew: the analysis says which commit it is of, and earlier ones stay listed.",
      act: () => {
        const files = { ...lighthouse, ...change() };
        soon(() => host.push(repository, { files, at_s: now_s(), anew: true }));
        return `${repository} was force-pushed.`;
      },
    },
    "hide-repository": {
      title: "Make a repository private, or public again",
      says: "Nobody may see it any more: its analysis is not shown from the next check on.",
      act: () => {
        hidden = !hidden;
        if (hidden) host.moods.set(repository, { is: "private" });
        else host.moods.delete(repository);
        return `${repository} is ${hidden ? "private now" : "public again"}.`;
      },
    },
    "look-often": {
      title: "A hundred views",
      says: `A hundred people look at ${FORGE}/${repository}: it is checked at once, and more often from now on.`,
      act: (origin) => {
        const look = () =>
          fetch(`${origin}/repositories/${FORGE}/${repository}`, { headers: { "user-agent": BROWSER } });
        soon(() => Promise.all(Array.from({ length: 100 }, look)));
        return `A hundred people look at ${repository}.`;
      },
    },
    "take-git-down": {
      title: "Take the git host down, or bring it back",
      says: "HTTP 503 for everything: the breaker opens, analyses stay there, and no repository is blamed.",
      act: () => {
        host.down = host.down === null ? 503 : null;
        return host.down === null ? "The git host is back." : "The git host is down.";
      },
    },
  };
}
