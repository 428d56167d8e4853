/** All hosts of a domain: it begins with the names that most have, and takes in those that its hosts lead to. */
import { every, fresh, type Kind, kind, type Pull } from "tidemark";
import { z } from "zod";
import { siteOf } from "./names.ts";
import type { WebParts } from "./parts.ts";
import { options } from "./settings.ts";

/** Hosts of one domain that are followed; a server that answers to every name would give them without end. */
const HOSTS_MOST = 5_000;

const Cursor = z.object({ hosts: z.number() }).default({ hosts: 0 });
type Cursor = z.infer<typeof Cursor>;
const Message = z.object({ host: z.string(), url: z.string() });
type Message = z.infer<typeof Message>;

export function domainKind(parts: WebParts): Kind {
  return kind<Cursor, Message>({
    upstream: () => parts.upstream(),
    lane: () => ({ name: "domains" }),
    schedule: every("1d"),
    cursor: Cursor,
    options,
    message: Message,
    coalesce: ({ host }) => host,
    receive: async (messages, pull) => take(messages, pull),
    async *pull(pull: Pull<Cursor>) {
      if (pull.cursor.hosts > 0) return fresh();
      const { key, options: given } = pull.resource;
      const found = [key, `www.${key}`].map((host) => ({ kind: "host", key: host, options: given }));
      yield { children: { found }, cursor: { hosts: found.length }, final: fresh() };
      return undefined;
    },
  });
}

function take(messages: Message[], pull: Pull<Cursor>) {
  const { key, options: given } = pull.resource;
  const room = Math.max(0, HOSTS_MOST - pull.cursor.hosts);
  const hosts = [...new Set(messages.map(({ host }) => host))].filter((host) => siteOf(host) === key).slice(0, room);
  return {
    children: { found: hosts.map((host) => ({ kind: "host", key: host, options: given })) },
    cursor: { hosts: pull.cursor.hosts + hosts.length },
  };
}
