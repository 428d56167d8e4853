/** The data directory's lock, held and lost by real processes. */
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Child, startChild } from "../../test/child.ts";
import { lockDirectory } from "./directory-lock.ts";

describe("a data directory", () => {
  let directory: string;
  let children: Child[] = [];
  const holder = () => {
    const child = startChild("lock-holder.ts", directory);
    children.push(child);
    return child;
  };
  beforeEach(async () => {
    directory = path.join(await mkdtemp(path.join(os.tmpdir(), "tidemark-lock-")), "data");
  });
  afterEach(async () => {
    await Promise.all(children.map((child) => child.kill()));
    children = [];
    await rm(path.dirname(directory), { recursive: true, force: true });
  });

  it("is created for its owner alone", async () => {
    const lock = await lockDirectory(directory);
    expect((await stat(directory)).mode & 0o777).toBe(0o700);
    await lock.release();
    expect(await readdir(directory)).toEqual([]);
  });

  it("is refused to a second process, with who has it and what to do", async () => {
    const lock = await lockDirectory(directory);
    const said = await holder().line();
    expect(said).toMatch(
      /^StoreLocked: The data directory .* is in use by process \d+: use that one over HTTP, or stop/,
    );
    expect(said).toContain(`process ${process.pid}:`);
    await lock.release();
    expect(await holder().line()).toBe("locked");
  });

  it("is refused to the same process as well", async () => {
    const lock = await lockDirectory(directory);
    await expect(lockDirectory(directory)).rejects.toMatchObject({
      code: "StoreLocked",
      details: { pid: process.pid },
    });
    await lock.release();
  });

  it("is taken over from a process that was killed", async () => {
    const child = holder();
    expect(await child.line()).toBe("locked");
    await expect(lockDirectory(directory)).rejects.toMatchObject({ code: "StoreLocked", details: { pid: child.pid } });
    await child.kill();
    const lock = await lockDirectory(directory);
    await expect(lockDirectory(directory)).rejects.toMatchObject({ code: "StoreLocked" });
    expect(await readdir(directory)).toEqual(["lock"]);
    await lock.release();
  });

  it("is taken over by one of many that find its holder dead", async () => {
    const child = holder();
    await child.line();
    await child.kill();
    for (let round = 0; round < 20; round++) {
      const attempts = await Promise.allSettled(Array.from({ length: 10 }, () => lockDirectory(directory)));
      const winners = attempts.filter((attempt) => attempt.status === "fulfilled");
      expect(winners).toHaveLength(1);
      expect(await readdir(directory)).toEqual(["lock"]);
      // Dead again, as if the winner had been killed.
      const file = path.join(directory, "lock");
      const held = JSON.parse(await readFile(file, "utf8"));
      await writeFile(file, JSON.stringify({ ...held, started: "another boot/1" }));
    }
  });

  it("is taken over when whoever was taking it over was killed half-way", async () => {
    await mkdir(directory);
    const dead = (token: string) =>
      JSON.stringify({ pid: process.pid, started: "before/1", host: os.hostname(), token });
    await writeFile(path.join(directory, "lock"), dead("a"));
    await writeFile(path.join(directory, "lock.after.a"), dead("b"));
    await writeFile(path.join(directory, "lock.after.b"), dead("c"));
    const lock = await lockDirectory(directory);
    expect(await readdir(directory)).toEqual(["lock"]);
    await lock.release();
  });

  it("is not left to a process that only has the number of the dead one", async () => {
    await mkdir(directory);
    const reused = { pid: process.pid, started: "before/1", host: os.hostname(), token: "a" };
    await writeFile(path.join(directory, "lock"), JSON.stringify(reused));
    await (await lockDirectory(directory)).release();
  });

  it("is never taken from another machine, which nobody can see from here", async () => {
    await mkdir(directory);
    const elsewhere = { pid: 1, started: "x/1", host: "elsewhere", token: "a" };
    await writeFile(path.join(directory, "lock"), JSON.stringify(elsewhere));
    await expect(lockDirectory(directory)).rejects.toThrow(/process 1 on elsewhere: .*delete .*lock/);
  });

  it("is not taken when its lock makes no sense", async () => {
    await mkdir(directory);
    await writeFile(path.join(directory, "lock"), "?");
    await expect(lockDirectory(directory)).rejects.toMatchObject({ code: "StoreLocked" });
  });
});
