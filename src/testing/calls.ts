/** HTTP calls of this process that are under way, so that a virtual clock does not run ahead of them. */
import diagnostics from "node:diagnostics_channel";

const BEGINS = ["undici:request:create", "tidemark:connection:opening"];
const ENDS = ["undici:request:trailers", "undici:request:error", "tidemark:connection:opened"];

/** What a message is about: a request, or the connection for one. */
const about = (message: unknown): unknown => {
  const { request, line } = message as { request?: unknown; line?: unknown };
  return request ?? line;
};

/** Counts calls from the first step of their connection to the last byte of the answer, as undici and our client announce them. */
export class OpenCalls {
  readonly #calls = new Set<unknown>();
  readonly #changed: () => void;
  readonly #begin = (message: unknown) => {
    this.#calls.add(about(message));
    this.#changed();
  };
  readonly #end = (message: unknown) => {
    this.#calls.delete(about(message));
    this.#changed();
  };

  constructor(changed: () => void) {
    this.#changed = changed;
    for (const name of BEGINS) diagnostics.subscribe(name, this.#begin);
    for (const name of ENDS) diagnostics.subscribe(name, this.#end);
  }

  get count(): number {
    return this.#calls.size;
  }

  close(): void {
    for (const name of BEGINS) diagnostics.unsubscribe(name, this.#begin);
    for (const name of ENDS) diagnostics.unsubscribe(name, this.#end);
  }
}
