/** What a source brings to the demo: a pretend upstream with life in it. */
import type { Action } from "./actions.ts";

export interface DemoPart {
  /** Settings that lead to the pretend upstream. */
  environment: Record<string, string>;
  follows: { source: string; key: string }[];
  actions: Record<string, Action>;
  /** What to look at first, and where. */
  tries: [string, string][];
  close(): Promise<void>;
}
