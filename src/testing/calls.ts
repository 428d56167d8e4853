/** HTTP calls of this process that are under way, so that a virtual clock does not run ahead of them. */
import diagnostics from "node:diagnostics_channel";

/** Counts calls from their beginning to the last byte of the answer, as undici itself announces them. */
export class OpenCalls {
  readonly #calls = new Set<unknown>();
  readonly #changed: () => void;
  readonly #begin = (message: unknown) => {
    this.#calls.add((message as { request: unknown }).request);
    this.#changed();
  };
  readonly #end = (message: unknown) => {
    this.#calls.delete((message as { request: unknown }).request);
    this.#changed();
  };

  constructor(changed: () => void) {
    this.#changed = changed;
    diagnostics.subscribe("undici:request:create", this.#begin);
    diagnostics.subscribe("undici:request:trailers", this.#end);
    diagnostics.subscribe("undici:request:error", this.#end);
  }

  get count(): number {
    return this.#calls.size;
  }

  close(): void {
    diagnostics.unsubscribe("undici:request:create", this.#begin);
    diagnostics.unsubscribe("undici:request:trailers", this.#end);
    diagnostics.unsubscribe("undici:request:error", this.#end);
  }
}
