/** How many calls to one host may be under way at once, over all its ports; the others wait in line. */

interface Host {
  busy: number;
  line: (() => void)[];
}

export class HostSlots {
  readonly #most: number;
  readonly #hosts = new Map<string, Host>();

  constructor(most: number) {
    this.#most = most;
  }

  /** Resolves with what gives the slot back, to be called once; rejects with the signal's reason. First come, first served. */
  async take(host: string, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    const at = this.#hosts.get(host) ?? { busy: 0, line: [] };
    this.#hosts.set(host, at);
    if (at.busy < this.#most) at.busy += 1;
    else await this.#wait(at, signal);
    return () => this.#giveBack(host, at);
  }

  /** Hosts with a call under way. */
  get size(): number {
    return this.#hosts.size;
  }

  #wait(at: Host, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        at.line.splice(at.line.indexOf(next), 1);
        reject(signal.reason);
      };
      const next = () => {
        signal.removeEventListener("abort", leave);
        resolve();
      };
      at.line.push(next);
      signal.addEventListener("abort", leave, { once: true });
    });
  }

  #giveBack(host: string, at: Host): void {
    const next = at.line.shift();
    // The slot goes to the next in line without becoming free in between.
    if (next) next();
    else at.busy -= 1;
    if (at.busy === 0) this.#hosts.delete(host);
  }
}
