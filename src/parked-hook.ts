/** Tells somebody else's address when something is parked; whatever becomes of that, it disturbs nobody here. */
import type { Clock } from "./clock.ts";
import { type Events, eventSentence } from "./events.ts";
import { Outbound } from "./outbound/client.ts";

const TIMEOUT_MS = 10_000;
/** More at once are dropped: when thousands are parked together the first hundred have said it. */
const UNDER_WAY_MOST = 100;
const CONNECTIONS_MOST = 4;
/** The operator typed this address, so it may be anywhere. */
const EVERYWHERE = ["0.0.0.0/0", "::/0"];

export interface ParkedHook {
  /** Hears no more, and waits for what is under way. */
  stop(): Promise<void>;
}

/** POSTs `{event, sentence, at, …}` for each resource or message that is parked from now on. */
export function startParkedHook(url: string, events: Events, clock: Clock, proxy: string | null = null): ParkedHook {
  const outbound = new Outbound({
    clock,
    user_agent: "tidemark",
    allow_private: EVERYWHERE,
    proxy,
    connections_per_host: CONNECTIONS_MOST,
  });
  const under_way = new Set<Promise<void>>();
  const tell = (body: Record<string, unknown>): void => {
    if (under_way.size >= UNDER_WAY_MOST) return;
    const sending: Promise<void> = post(outbound, url, body).finally(() => under_way.delete(sending));
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
      await outbound.close();
    },
  };
}

/** The address is a secret, so a failure is not told with it; Node's own warning says that there was one. */
async function post(outbound: Outbound, url: string, body: Record<string, unknown>): Promise<void> {
  try {
    const target = new URL(url);
    const credentials = target.username
      ? Buffer.from(`${target.username}:${target.password}`).toString("base64")
      : null;
    target.username = "";
    target.password = "";
    const { status, body: answer } = await outbound.stream(target.href, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        ...(credentials ? { authorization: `Basic ${credentials}` } : {}),
      },
      body: JSON.stringify(body),
      timeouts: { connect_ms: TIMEOUT_MS, whole_ms: TIMEOUT_MS },
    });
    answer.cancel();
    if (status >= 400) process.emitWarning(`TIDEMARK_PARKED_HOOK answered HTTP ${status}`);
  } catch {
    process.emitWarning("TIDEMARK_PARKED_HOOK could not be reached");
  }
}
