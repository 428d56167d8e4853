/** Tells somebody else's address when something is parked; whatever becomes of that, it disturbs nobody here. */
import { Agent } from "undici";
import type { Clock } from "./clock.ts";
import { type Events, eventSentence } from "./events.ts";

const TIMEOUT_MS = 10_000;
/** More at once are dropped: when thousands are parked together the first hundred have said it. */
const UNDER_WAY_MOST = 100;

export interface ParkedHook {
  /** Hears no more, and waits for what is under way. */
  stop(): Promise<void>;
}

/** POSTs `{event, sentence, at, …}` for each resource or message that is parked from now on. */
export function startParkedHook(url: string, events: Events, clock: Clock): ParkedHook {
  const agent = new Agent({ connections: 4, connect: { timeout: TIMEOUT_MS } });
  const under_way = new Set<Promise<void>>();
  const tell = (body: Record<string, unknown>): void => {
    if (under_way.size >= UNDER_WAY_MOST) return;
    const sending: Promise<void> = post(agent, url, body, clock).finally(() => under_way.delete(sending));
    under_way.add(sending);
  };
  const offs = [
    events.on("parked", (e) => tell({ event: "parked", sentence: eventSentence("parked", e), ...e })),
    events.on("message_parked", (e) => {
      const sentence = eventSentence("message_parked", e);
      tell({ event: "message_parked", sentence, ...e, message_id: String(e.message_id) });
    }),
  ];
  return {
    stop: async () => {
      for (const off of offs) off();
      await Promise.all(under_way);
      await agent.destroy();
    },
  };
}

/** The address is a secret, so a failure is not told with it; Node's own warning says that there was one. */
async function post(agent: Agent, url: string, body: Record<string, unknown>, clock: Clock): Promise<void> {
  const late = new AbortController();
  const done = new AbortController();
  void clock.sleep(TIMEOUT_MS, done.signal).then(() => late.abort());
  try {
    const target = new URL(url);
    const credentials = target.username
      ? Buffer.from(`${target.username}:${target.password}`).toString("base64")
      : null;
    const response = await agent.request({
      origin: target.origin,
      path: `${target.pathname}${target.search}`,
      method: "POST",
      headers: {
        "content-type": "application/json",
        ...(credentials ? { authorization: `Basic ${credentials}` } : {}),
      },
      body: JSON.stringify(body),
      signal: late.signal,
    });
    await response.body.dump();
    if (response.statusCode >= 400) process.emitWarning(`TIDEMARK_PARKED_HOOK answered HTTP ${response.statusCode}`);
  } catch {
    process.emitWarning("TIDEMARK_PARKED_HOOK could not be reached");
  } finally {
    done.abort();
  }
}
