/** What goes between the process and the thread that runs the embedded database. */

export interface ThreadData {
  folder: string | undefined;
}

export type Request =
  | { is: "query"; id: number; text: string; values: (string | null)[] }
  | { is: "script"; id: number; text: string }
  | { is: "close"; id: number };

export type Answer =
  | { is: "ready" }
  | { is: "done"; id: number; value: unknown }
  | { is: "failed"; id: number; message: string; fields: object | undefined }
  | { is: "notified"; channel: string; payload: string }
  | { is: "died"; message: string };
