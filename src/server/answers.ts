/** How answers look: JSON with 64-bit numbers as text, and errors as a code and a sentence. */
import type { Context } from "hono";
import { HTTPException } from "hono/http-exception";
import { asTidemarkError, type ErrorCode, type TidemarkError } from "../errors.ts";
import type { Events } from "../events.ts";
import { toJson } from "../mirror/table.ts";
import { Refused } from "./guard.ts";

/** The value as its JSON says it; the shape is the one that the route declares. */
export function plain<T>(value: unknown): T {
  return JSON.parse(toJson(value)) as T;
}

type Status = 400 | 401 | 403 | 404 | 409 | 413 | 415 | 500 | 503;

const statuses: Partial<Record<ErrorCode, Status>> = {
  InputInvalid: 400,
  ConfigInvalid: 400,
  NotFollowed: 404,
  StoreDown: 503,
  UpstreamBusy: 503,
  UpstreamDown: 503,
  SchemaTooOld: 503,
  SchemaTooNew: 503,
};

export function statusOf(error: TidemarkError): Status {
  return error instanceof Refused ? error.status : (statuses[error.code] ?? 500);
}

export function errorBody(code: string, sentence: string) {
  return { error: { code, sentence } };
}

/** What a handler threw, as an answer; what nobody foresaw is told to the log and not to the caller. */
export function answerError(events: Events): (thrown: Error, c: Context) => Response {
  return (thrown, c) => {
    if (thrown instanceof HTTPException) {
      const sentence = thrown.message || "The request was not understood.";
      return c.json(errorBody("InputInvalid", sentence), thrown.status);
    }
    const error = asTidemarkError(thrown);
    const status = statusOf(error);
    if (status === 500) {
      events.emit("surprise", { sentence: error.message, error_code: error.code, stack: thrown.stack ?? "" });
      return c.json(errorBody(error.code, "Something failed that nobody foresaw; the server's log has more."), 500);
    }
    if (status === 401) c.header("www-authenticate", "Bearer");
    if (error.wait_ms !== undefined) c.header("retry-after", String(Math.ceil(error.wait_ms / 1000)));
    return c.json(errorBody(error.code, error.message), status);
  };
}
