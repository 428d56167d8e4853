/** The command line: what it asks the API for, what it prints, and the exit code of every mistake. */
import { beforeEach, describe, expect, it } from "vitest";
import { realClock } from "../clock.ts";
import { readConfig } from "../config.ts";
import { TidemarkError } from "../errors.ts";
import { outputTo } from "./output.ts";
import { runProgram } from "./program.ts";
import type { Shell } from "./shell.ts";

interface Asked {
  path: string;
  method: string;
  body: unknown;
}

let asked: Asked[];
let answers: Record<string, { status?: number; body: unknown }>;
let out: string;
let err: string;
let ran: string[];
let closed: number;
let environment: Record<string, string>;
let shell: Shell;

beforeEach(() => {
  asked = [];
  answers = {};
  out = "";
  err = "";
  ran = [];
  closed = 0;
  environment = { DATABASE_URL: "postgresql://localhost/none" };
  const write = {
    write: (text: string) => {
      out += text;
    },
  };
  const note = {
    write: (text: string) => {
      err += text;
    },
  };
  shell = {
    output: outputTo({ out: write, err: note }, false),
    clock: realClock,
    environment: {},
    version: "1.2.3",
    settings: async () => ({ config: readConfig(environment), sources: [] }),
    inside: async () => ({
      request: async (path, init) => {
        asked.push({ path, method: init.method ?? "GET", body: init.body ? JSON.parse(String(init.body)) : null });
        const answer = answers[path.split("?")[0]!] ?? {
          status: 404,
          body: { error: { code: "NotFollowed", sentence: "Not there." } },
        };
        return Response.json(answer.body, { status: answer.status ?? 200 });
      },
      close: async () => {
        closed += 1;
      },
    }),
    demo: async () => ({
      environment: {},
      follows: [],
      lines: [],
      tries: [],
      controls: { actions: [], happened: () => [], act: () => null },
      close: async () => {
        closed += 1;
      },
    }),
    demo_data: "./none",
    run: async (role, _, demo) => void ran.push(demo ? `${role} --demo` : role),
  };
});

const run = (line: string) => runProgram(shell, line.split(" ").filter(Boolean));

describe("a command", () => {
  it("speaks the API, and lets go of it", async () => {
    answers["/api/follow"] = { body: { source: "toy", kind: "page", key: "a b" } };
    expect(
      await runProgram(shell, ["follow", "toy", "a b", "--set", "every=1h", "--set", "deep=true", "--set", "most=5"]),
    ).toBe(0);
    expect(asked).toEqual([
      {
        path: "/api/follow",
        method: "POST",
        body: { source: "toy", key: "a b", options: { every: "1h", deep: true, most: 5 } },
      },
    ]);
    expect(out).toContain("Following toy page a b.");
    expect(out).toContain("tidemark status toy 'a b'");
    expect(closed).toBe(1);
  });

  it("prints what the API answers with --json, and nothing else", async () => {
    answers["/api/follow"] = { body: { source: "toy", kind: "page", key: "a" } };
    expect(await run("follow toy a --json")).toBe(0);
    expect(JSON.parse(out)).toEqual({ source: "toy", kind: "page", key: "a" });
    expect(err).toBe("");
  });

  it("finds the one resource that is meant, its key as one segment", async () => {
    answers["/api/resources"] = { body: { resources: [{ source: "toy", kind: "page", key: "a/b%" }], next: null } };
    answers["/api/resources/toy/page/a%2Fb%25/refresh"] = { body: { source: "toy", kind: "page", key: "a/b%" } };
    expect(await runProgram(shell, ["refresh", "toy", "a/b%"])).toBe(0);
    expect(out).toBe("toy page a/b% is due now.\n");
  });

  it("asks which is meant where several kinds have that key", async () => {
    answers["/api/resources"] = {
      body: {
        resources: [
          { source: "toy", kind: "page", key: "a" },
          { source: "toy", kind: "site", key: "a" },
        ],
        next: null,
      },
    };
    expect(await run("pause toy a")).toBe(2);
    expect(err).toBe('tidemark: "a" is the key of several kinds; say which with --kind (page, site).\n');
  });

  it("runs a role with its settings", async () => {
    expect(await run("worker")).toBe(0);
    expect(ran).toEqual(["worker"]);
  });

  it("goes on watching while nobody answers, and shows what it saw last", async () => {
    const all = { now: "2026-11-16T05:00:00.000000Z", estimated: false, sources: [], upstreams: [], workers: [] };
    answers["/api/status"] = { body: all };
    answers["/api/budgets"] = { body: { now: all.now, budgets: [], breakers: [] } };
    const down = { status: 503, body: { error: { code: "StoreDown", sentence: "Nobody is there." } } };
    let looks = 0;
    const sleep = async () => {
      looks += 1;
      answers["/api/status"] = looks === 1 ? down : { body: all };
      if (looks === 3) throw new Error("that is enough");
    };
    shell.clock = { elapsed_ms: () => 0, sleep };
    expect(await run("status --watch")).toBe(1);
    expect(out.split("Nobody is there. It is asked again each second")).toHaveLength(2);
    expect(out.match(/No source is loaded/g)).toHaveLength(3);
    expect(err).toContain("that is enough");
  });

  it("says how to start a demo where none is running", async () => {
    expect(await run("demo push-tag")).toBe(2);
    expect(err).toContain("start one with `tidemark up --demo`");
  });

  it("runs everything with pretend upstreams, and ends them with it", async () => {
    expect(await run("up --demo")).toBe(0);
    expect(ran).toEqual(["up --demo"]);
    expect(closed).toBe(1);
    expect(await run("worker --demo")).toBe(2);
  });

  it("has no colour where nobody looks", async () => {
    expect(await run("config")).toBe(0);
    expect(out).not.toContain("\u001b");
    expect(out).toMatch(/^setting +value +from +meaning/);
  });
});

describe("a mistake", () => {
  it.each([
    ["stauts", "Unknown command 'stauts'. Did you mean `tidemark status`?"],
    ["flow toy a", "Unknown command 'flow'. Did you mean `tidemark follow`?"],
    ["abracadabra", "Unknown command 'abracadabra'. `tidemark help` says more."],
    ["follow toy", "Missing required argument 'KEY'. `tidemark help follow` says more."],
    ["status --jsno", "Unknown option '--jsno'. Did you mean --json?"],
    ["up now", "Too many arguments for 'up'"],
    ["follow toy a --set every", "Write it as name=value"],
    ["status toy --limit x", "--limit"],
    ["refresh toy a", "There is no"],
    ["messages retry a b", "tidemark messages retry 42 7"],
  ])("`tidemark %s` ends with 2 and one line that says what to do", async (line, sentence) => {
    if (line.startsWith("refresh")) answers["/api/resources"] = { body: { resources: [], next: null } };
    expect(await run(line)).toBe(2);
    expect(err).toContain(sentence);
    expect(err.trimEnd().split("\n")).toHaveLength(1);
    expect(out).toBe("");
  });

  it("in the settings ends with 2", async () => {
    environment.TIDEMARK_PROT = "80";
    shell.settings = async () => ({ config: readConfig(environment), sources: [] });
    expect(await run("status")).toBe(2);
    expect(err).toContain("use TIDEMARK_PORT");
  });

  it("of a role without a PostgreSQL ends with 2", async () => {
    environment = {};
    expect(await run("serve")).toBe(2);
    expect(err).toContain("needs DATABASE_URL");
    expect(ran).toEqual([]);
  });

  it("that the server tells ends with 2, and a failure of the server with 1", async () => {
    answers["/api/status"] = {
      status: 400,
      body: { error: { code: "InputInvalid", sentence: "Say it differently." } },
    };
    expect(await run("status")).toBe(2);
    expect(err).toBe("tidemark: Say it differently.\n");
    answers["/api/status"] = { status: 503, body: { error: { code: "StoreDown", sentence: "The database is away." } } };
    expect(await run("status")).toBe(1);
    expect(closed).toBe(2);
  });

  it("of nobody, when the database cannot be opened, ends with 1", async () => {
    shell.inside = () => Promise.reject(new TidemarkError("StoreDown", "The database cannot be reached."));
    expect(await run("status")).toBe(1);
    expect(err).toBe("tidemark: The database cannot be reached.\n");
  });
});

describe("help", () => {
  it("teaches by example, for all and for each command", async () => {
    expect(await run("--help")).toBe(0);
    expect(out).toContain("tidemark up --source ./mine.js");
    for (const command of [
      "up",
      "worker",
      "serve",
      "migrate",
      "follow",
      "unfollow",
      "status",
      "refresh",
      "pause",
      "resume",
      "messages list",
      "config",
      "doctor",
    ]) {
      out = "";
      expect(await run(`${command} --help`), command).toBe(0);
      expect(out, command).toContain("Examples:");
    }
  });

  it("is shown to one who says nothing, who has made a mistake", async () => {
    expect(await run("")).toBe(2);
    expect(out).toContain("Usage: tidemark");
  });
});
