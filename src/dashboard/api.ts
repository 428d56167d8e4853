/** How the dashboard speaks to the server: JSON, with a token where there is one, and failures as a sentence. */
import { tokenHeaders } from "./token.ts";

/** What went wrong, for a person; `status` is 0 where the server did not answer at all. */
export class Failure extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, sentence: string) {
    super(sentence);
    this.status = status;
    this.code = code;
  }
}

export const get = <T>(path: string, signal?: AbortSignal): Promise<T> => call<T>(path, { signal: signal ?? null });

export function post<T>(path: string, body: unknown = {}): Promise<T> {
  const headers = { "content-type": "application/json" };
  return call<T>(path, { method: "POST", headers, body: JSON.stringify(body) });
}

async function call<T>(path: string, init: RequestInit): Promise<T> {
  let response: Response;
  try {
    response = await fetch(path, { ...init, headers: { ...init.headers, ...tokenHeaders() } });
  } catch (thrown) {
    if (init.signal?.aborted) throw thrown;
    throw new Failure(0, "NoAnswer", "The server does not answer. Is it running? It is asked again by itself.");
  }
  if (response.ok) return (await response.json()) as T;
  throw await failureOf(response);
}

export async function failureOf(response: Response): Promise<Failure> {
  const said = (await response.json().catch(() => ({}))) as { error?: { code?: string; sentence?: string } };
  const sentence = said.error?.sentence ?? `The server answered HTTP ${response.status}.`;
  return new Failure(response.status, said.error?.code ?? "Unexpected", sentence);
}

export const asFailure = (thrown: unknown): Failure =>
  thrown instanceof Failure ? thrown : new Failure(0, "Unexpected", String(thrown));

interface Named {
  source: string;
  kind: string;
  key: string;
}

export const resourcePath = ({ source, kind, key }: Named): string =>
  `/api/resources/${[source, kind, key].map(encodeURIComponent).join("/")}`;
