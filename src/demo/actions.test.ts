/** What the demo's actions do to the pretend GitHub. */
import { beforeEach, describe, expect, it } from "vitest";
import { fillAcme, OWNER, TOKEN } from "./acme.ts";
import { Stage } from "./actions.ts";
import { MoodyGitHub } from "./moods.ts";

const NOW_MS = Date.UTC(2026, 10, 16);
let now_ms: number;
let hub: MoodyGitHub;
let stage: Stage;

beforeEach(() => {
  now_ms = NOW_MS;
  hub = new MoodyGitHub();
  stage = new Stage(hub, fillAcme(hub, now_ms), () => now_ms);
});

const tags = () =>
  [...hub.owner(OWNER).repositories.values()].flatMap((one) =>
    [...one.tags].map(([tag, object]) => `${one.name} ${tag} ${object.oid}`),
  );
const call = async () => {
  const headers = { authorization: `Bearer ${TOKEN}` };
  return (await hub.answer({ at_ms: now_ms, method: "GET", path: "/user", headers, body: "" })).status;
};

describe("an action of the demo", () => {
  it("pushes a tag that was not there", () => {
    const before = tags();
    expect(stage.act("push-tag")).toMatch(/^v1\.90\.1 of acme\/\S+ was pushed\.$/);
    expect(tags()).toHaveLength(before.length + 1);
  });

  it("moves a tag that was there to another commit", () => {
    const before = tags();
    stage.act("move-tag");
    const after = tags();
    expect(after).toHaveLength(before.length);
    expect(after.filter((tag) => !before.includes(tag))).toHaveLength(1);
  });

  it("deletes repositories, which are never pushed to again, and keeps some to look at", () => {
    const { repositories } = hub.owner(OWNER);
    const before = repositories.size;
    for (let n = 0; n < 100; n += 1) {
      stage.act("delete-repository");
      stage.act("push-tag");
    }
    expect(repositories.size).toBe(before - 30);
    expect(stage.act("delete-repository")).toMatch(/^No repository was deleted/);
  });

  it("takes GitHub down, or makes it answer 429, for a while or until it is brought back", async () => {
    expect(await call()).toBe(200);
    stage.act("take-down");
    expect(await call()).toBe(502);
    now_ms += 60_000;
    expect(await call()).toBe(200);
    stage.act("send-429");
    expect(await call()).toBe(429);
    stage.act("bring-back");
    expect(await call()).toBe(200);
  });

  it("is told of, the newest first, and no more than can be read", () => {
    for (let n = 0; n < 60; n += 1) stage.act("push-tag");
    stage.act("bring-back");
    const story = stage.happened();
    expect(story).toHaveLength(50);
    expect(story[0]).toEqual({ at: "2026-11-16T00:00:00.000Z", sentence: "GitHub is well." });
  });

  it("is null where there is none of that name, whatever objects inherit", () => {
    expect(stage.act("constructor")).toBe(null);
    expect(stage.act("fly")).toBe(null);
    expect(stage.happened()).toEqual([]);
  });
});
