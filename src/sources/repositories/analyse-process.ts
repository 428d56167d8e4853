/** The process that works out one report, apart from the rest: it has a bound on its memory, and dies with whoever asked. */
import { analyse } from "./analyse.ts";
import { asJob, type Done } from "./analyse-job.ts";
import { ObjectStore } from "./git.ts";

/** With all that it started: they are of one group. */
function die(): void {
  process.kill(-process.pid, "SIGKILL");
}

let given = "";
process.stdin.setEncoding("utf8");
process.stdin.on("data", (part: string) => {
  given += part;
  const end = given.indexOf("\n");
  if (end < 0) return;
  const text = given.slice(0, end);
  given = "";
  void work(text);
});
// Nobody waits for it any more.
process.stdin.on("end", die);

async function work(text: string): Promise<void> {
  const say = (done: Done) => process.stdout.write(`${JSON.stringify(done)}\n`);
  try {
    const { folder, commit, files_max } = asJob(text);
    const objects = new ObjectStore(folder, new AbortController().signal);
    say({ report: await analyse(objects, commit, files_max) });
  } catch (thrown) {
    const { message = "no reason given", code, details } = thrown as Error & { code?: string; details?: object };
    say({ failed: { sentence: message, code: code ?? null, details: { ...details } } });
  }
}
