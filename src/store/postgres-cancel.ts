/** Cancels a running statement with the protocol's own cancel request, which poolers pass on correctly. */
import net from "node:net";
import type pg from "pg";
import { realClock } from "../clock.ts";

/** What pg knows of a connection but does not declare. */
interface Address {
  host: string;
  port: number;
  processID: number | null;
  secretKey: number | null;
}

const cancel_code = 80877102;
const again_after_ms = 100;

/**
 * Asks the server to stop what `client` runs, again and again because a request that overtakes its statement
 * has no effect, until the statement ends or `grace_ms` have passed. pg_cancel_backend would not do: behind a
 * pooler the process number that we know is not the server's.
 */
export async function cancel(client: pg.ClientBase, running: Promise<unknown>, grace_ms: number): Promise<void> {
  const ended = new AbortController();
  const end = () => ended.abort();
  running.then(end, end);
  const start_ms = realClock.elapsed_ms();
  while (!ended.signal.aborted && realClock.elapsed_ms() - start_ms < grace_ms) {
    request(client as unknown as Address);
    await realClock.sleep(again_after_ms, ended.signal);
  }
}

function request({ host, port, processID, secretKey }: Address): void {
  if (processID === null || secretKey === null) return;
  const message = Buffer.alloc(16);
  message.writeInt32BE(16, 0);
  message.writeInt32BE(cancel_code, 4);
  message.writeInt32BE(processID, 8);
  message.writeInt32BE(secretKey, 12);
  const socket = host.startsWith("/") ? net.connect(`${host}/.s.PGSQL.${port}`) : net.connect(port, host);
  socket.on("error", () => socket.destroy());
  socket.end(message);
}
