/** A fair queue for the embedded database's one session: first come, first served. */

interface Waiting {
  begin(): void;
  refuse(error: unknown): void;
}

export class Turns {
  readonly #queue: Waiting[] = [];
  #taken = false;

  /** Waits for its turn and gives the function that ends it; gives up its place when the signal aborts. */
  enter(signal?: AbortSignal): Promise<() => void> {
    if (signal?.aborted) return Promise.reject(signal.reason);
    return new Promise((resolve, reject) => {
      const abort = () => {
        this.#queue.splice(this.#queue.indexOf(waiting), 1);
        reject(signal?.reason);
      };
      const waiting: Waiting = {
        begin: () => {
          signal?.removeEventListener("abort", abort);
          resolve(this.#exit());
        },
        refuse: (error) => {
          signal?.removeEventListener("abort", abort);
          reject(error);
        },
      };
      signal?.addEventListener("abort", abort, { once: true });
      this.#queue.push(waiting);
      this.#next();
    });
  }

  /** Refuses everyone who waits; whoever has the turn keeps it. */
  refuseAll(error: unknown): void {
    for (const waiting of this.#queue.splice(0)) waiting.refuse(error);
  }

  #next(): void {
    if (this.#taken) return;
    const waiting = this.#queue.shift();
    if (waiting === undefined) return;
    this.#taken = true;
    waiting.begin();
  }

  #exit(): () => void {
    let over = false;
    return () => {
      if (over) return;
      over = true;
      this.#taken = false;
      this.#next();
    };
  }
}
