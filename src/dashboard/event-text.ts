/** Cuts a stream of text into server-sent events. */

export interface ServerEvent {
  /** "" for what is only said to show that somebody is there. */
  event: string;
  id: string;
  data: string;
}

export async function* eventsOf(stream: ReadableStream<string>): AsyncGenerator<ServerEvent, void> {
  const reader = stream.getReader();
  let text = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    text += value;
    for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
      yield eventOf(text.slice(0, end));
      text = text.slice(end + 2);
    }
  }
}

function eventOf(text: string): ServerEvent {
  const fields: ServerEvent = { event: "", id: "", data: "" };
  for (const line of text.split("\n")) {
    const [, name, value = ""] = /^(event|id|data): ?(.*)$/.exec(line) ?? [];
    if (name === "data") fields.data += fields.data === "" ? value : `\n${value}`;
    else if (name === "event" || name === "id") fields[name] = value;
  }
  return fields;
}
