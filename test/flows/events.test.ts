/** The stream of events: a snapshot first, every change after it, and no gap for one who comes back. */
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { digestOf } from "../../src/server/events-stream.ts";
import { toyKind, toySource } from "../sql/toy.ts";
import { ServerRig } from "./server-rig.ts";

let server: ServerRig;

beforeAll(async () => {
  server = await ServerRig.open();
});
beforeEach(() => server.reset(toySource({ page: toyKind() })));
afterEach(() => server.end());

describe("the stream of events", () => {
  async function* eventsOf(response: Response): AsyncGenerator<{ id: string; data: string } | "heartbeat"> {
    let text = "";
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
        const lines = text.slice(0, end).split("\n");
        text = text.slice(end + 2);
        const field = (name: string) =>
          lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2) ?? "";
        yield lines[0]!.startsWith(":") ? "heartbeat" : { id: field("id"), data: field("data") };
      }
    }
  }
  const next = async (
    events: AsyncGenerator<{ id: string; data: string } | "heartbeat">,
    path = server.rig.clock.advance(1_000),
  ) => {
    const event = (await Promise.all([events.next(), path]))[0].value;
    if (event === undefined || event === "heartbeat") throw new Error(`no event: ${event}`);
    return { id: event.id, status: JSON.parse(event.data) as { sources: { followed: number; paused: number }[] } };
  };

  it("begins with a snapshot, tells a change within a second, and says nothing where nothing changed", async () => {
    const events = eventsOf(await server.get("/api/events"));
    expect((await next(events)).status.sources[0]).toMatchObject({ followed: 0 });
    await server.follow("a");
    const second = await next(events);
    expect(second.status.sources[0]).toMatchObject({ followed: 1 });
    const quiet = events.next();
    await server.rig.clock.advance(20_000);
    expect((await quiet).value).toBe("heartbeat");
    server.stopping.abort();
  });

  it("gives one who comes back what changed, or nothing if nothing did", async () => {
    await server.follow("a");
    const { id } = await next(eventsOf(await server.get("/api/events")));
    const again = () => server.get("/api/events", { "last-event-id": id });
    const quiet = eventsOf(await again()).next();
    await server.rig.clock.advance(16_000);
    expect((await quiet).value).toBe("heartbeat");
    await server.post("/api/resources/toy/page/a/pause");
    await server.rig.clock.advance(1_000);
    expect((await next(eventsOf(await again()))).status.sources[0]).toMatchObject({ paused: 1 });
  });

  it("does not take the passing of time for a change", () => {
    const worker = { worker_id: 1, name: "w", role: "worker", started_at: "", slots: 1, busy: 0, stopping: false };
    const state = { estimated: false, sources: [], lanes: [], upstreams: [] };
    const at = (now: string) => digestOf({ ...state, now, workers: [{ ...worker, seen_at: now }] });
    expect(at("a")).toBe(at("b"));
    expect(at("a")).not.toBe(digestOf({ ...state, now: "a", workers: [] }));
  });
});
