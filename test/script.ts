/** Lets a test run several statements in one text, as migrations do. */
import type { ScriptTx, Tx } from "../src/store/db.ts";

export function scripted(tx: Tx): ScriptTx {
  return tx as ScriptTx;
}
