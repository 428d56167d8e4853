/** How commands reach Tidemark: always through its HTTP API, be it of a running server or of one inside this process. */
import { TidemarkError } from "../errors.ts";
import { toJson } from "../mirror/table.ts";

/** One request and its answer; `path` begins with a slash. */
export type Send = (path: string, init: RequestInit) => Promise<Response>;

export class Api {
  readonly #send: Send;
  readonly #close: () => Promise<void>;
  /** Where it is, for people. */
  readonly where: string;

  constructor(where: string, send: Send, close: () => Promise<void> = async () => {}) {
    this.where = where;
    this.#send = send;
    this.#close = close;
  }

  get<T>(path: string): Promise<T> {
    return this.#call<T>(path, { method: "GET" });
  }

  post<T>(path: string, body: unknown = {}): Promise<T> {
    return this.#call<T>(path, { method: "POST", headers: { "content-type": "application/json" }, body: toJson(body) });
  }

  close(): Promise<void> {
    return this.#close();
  }

  async #call<T>(path: string, init: RequestInit): Promise<T> {
    const response = await this.#send(path, init);
    const text = await response.text();
    if (response.ok) return JSON.parse(text) as T;
    throw errorOf(response.status, text);
  }
}

/** What went wrong there, as if it had gone wrong here: 4xx is a person's mistake. */
function errorOf(status: number, text: string): TidemarkError {
  let said: { error?: { code?: string; sentence?: string } } = {};
  try {
    said = JSON.parse(text) as typeof said;
  } catch {
    // Not ours: a proxy's page, or nothing at all.
  }
  const sentence = said.error?.sentence ?? `The server answered HTTP ${status}.`;
  if (said.error?.code === "NotFollowed") return new TidemarkError("NotFollowed", sentence);
  if (status >= 400 && status < 500) return new TidemarkError("InputInvalid", sentence);
  return new TidemarkError(status === 503 ? "StoreDown" : "Unexpected", sentence);
}

/** A server elsewhere, with the token that it may ask for. */
export function remote(url: string, token: string | null): Api {
  const authorization: Record<string, string> = token === null ? {} : { authorization: `Bearer ${token}` };
  const send: Send = async (path, init) => {
    try {
      return await fetch(`${url}${path}`, { ...init, headers: { ...init.headers, ...authorization } });
    } catch (cause) {
      throw new TidemarkError("StoreDown", `The server at ${url} does not answer.`, { cause });
    }
  };
  return new Api(url, send);
}

export const resourcePath = ({ source, kind, key }: { source: string; kind: string; key: string }): string =>
  `/api/resources/${[source, kind, key].map(encodeURIComponent).join("/")}`;
