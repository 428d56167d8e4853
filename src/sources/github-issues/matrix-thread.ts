/** The thread in which vectors are compared one by one, so that it does not stop the process. */
import { parentPort } from "node:worker_threads";
import { type MatrixRow, MatrixStore } from "./matrix-store.ts";

export type ToMatrix =
  | { is: "begin"; dimensions: number }
  | { is: "put"; rows: MatrixRow[] }
  | {
      is: "nearest";
      id: number;
      vector: Float32Array;
      most: number;
      allowed: { resource_id: bigint; number: number }[] | null;
    };

const port = parentPort!;
let store = new MatrixStore(1);

port.on("message", (message: ToMatrix) => {
  if (message.is === "begin") store = new MatrixStore(message.dimensions);
  else if (message.is === "put") store.put(message.rows);
  else port.postMessage({ id: message.id, near: store.nearest(message.vector, message.most, message.allowed) });
});
