/** The pretend feed's process, as the one that measures speaks to it. */
import { type ChildProcess, fork } from "node:child_process";
import path from "node:path";
import type { FeedOrder, FeedSays } from "./nuget-feed-process.ts";
import { node } from "./team.ts";

export interface Held {
  /** Events in the catalog, and the versions that they are about. */
  leaves: number;
  versions: number;
  last: string;
}

export class FeedProcess {
  readonly #child: ChildProcess;
  readonly url: string;
  readonly held: Held;

  private constructor(child: ChildProcess, { url, leaves, versions, last }: FeedSays) {
    this.#child = child;
    this.url = url!;
    this.held = { leaves: leaves!, versions: versions!, last: last! };
  }

  static async start(packages: number, leaves: number): Promise<FeedProcess> {
    const program = path.join(import.meta.dirname, "nuget-feed-process.ts");
    const child = fork(program, [String(packages), String(leaves)], {
      execPath: node,
      execArgv: ["--disable-warning=ExperimentalWarning", "--import", import.meta.resolve("tsx")],
    });
    return new FeedProcess(child, await next(child));
  }

  /** Requests since this was asked last. */
  async requests(): Promise<number> {
    const said = next(this.#child, ({ requests }) => requests !== undefined);
    this.#order({ verb: "count" });
    return (await said).requests!;
  }

  /** Commits so many packages a second, and says when each commit was made; none stops it. */
  publish(per_second: number, committed: (stamp: string) => void): void {
    this.#child.removeAllListeners("message");
    this.#child.on("message", (said: FeedSays) => {
      if (said.committed !== undefined) committed(said.committed);
    });
    this.#order({ verb: "publish", per_second });
  }

  end(): void {
    this.#child.kill("SIGKILL");
  }

  #order(order: FeedOrder): void {
    this.#child.send(order);
  }
}

function next(child: ChildProcess, isIt: (said: FeedSays) => boolean = () => true): Promise<FeedSays> {
  return new Promise((resolve, reject) => {
    const hear = (said: FeedSays) => {
      if (!isIt(said)) return;
      child.off("message", hear).off("exit", gone);
      resolve(said);
    };
    const gone = () => reject(new Error("the pretend feed ended early"));
    child.on("message", hear);
    child.once("exit", gone);
  });
}
