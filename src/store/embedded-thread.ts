/** The worker thread that runs the embedded database, so that a long statement does not stop the process. */
import { parentPort, workerData } from "node:worker_threads";
import pg from "pg";
import { openInProcess } from "./embedded-engine.ts";
import type { Answer, Request, ThreadData } from "./embedded-messages.ts";

const port = parentPort!;
const say = (answer: Answer) => port.postMessage(answer);

const engine = await openInProcess((workerData as ThreadData).folder, {
  notified: (channel, payload) => say({ is: "notified", channel, payload }),
  died: (reason) => say({ is: "died", message: reason.message }),
});

port.on("message", async (request: Request) => {
  const { id } = request;
  try {
    const value =
      request.is === "query"
        ? await engine.query(request.text, request.values)
        : request.is === "script"
          ? await engine.script(request.text)
          : await engine.close();
    say({ is: "done", id, value });
  } catch (error) {
    // An error's own fields do not survive the way between threads.
    const fields = error instanceof pg.DatabaseError ? { ...error } : undefined;
    say({ is: "failed", id, message: error instanceof Error ? error.message : String(error), fields });
  }
});
say({ is: "ready" });
