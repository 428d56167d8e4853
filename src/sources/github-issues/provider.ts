/** What makes vectors of texts: any server that speaks like OpenAI's, with its limits. */
import {
  type Answer,
  type FetchRequest,
  type LocalModel,
  localModel,
  type SharedSettings,
  TidemarkError,
  type Upstream,
} from "tidemark";
import { z } from "zod";
import type { Settings } from "./settings.ts";
import { type TextLimits, tokensOf } from "./text.ts";

/** What a server takes in one call. */
export interface RequestLimits {
  inputs_most: number;
  tokens_most: number;
}

/** How a call gets out: with the budgets of a pull, or of a search. */
export type Call = (url: string, request: FetchRequest) => Promise<Answer>;

export type Share = "init" | "search" | "other";

export interface Provider {
  /** Vectors of one model are compared with one another only. */
  model: string;
  /** Where it runs, for people. */
  where: string;
  limits: TextLimits;
  request: RequestLimits;
  /** Texts with a smaller cosine have nothing to do with one another. */
  similar_least: number;
  /** Whether it can make vectors that are compared with those of another model. */
  serves(model: string): boolean;
  /** A vector of length one for each text, in their order. `InputsRefused` where the server does not take them. */
  embed(texts: string[], share: Share, call: Call, model?: string): Promise<Float32Array[]>;
}

/** The server refuses the texts themselves: fewer of them, or one alone, may do. */
export class InputsRefused extends Error {}

/** Initialisation may spend half, as the plan has it; what searches need is always there; the rest is for what changed. What is idle is lent. */
const SHARES = { init: 0.5, search: 0.3, other: 0.2 };
const INPUTS_MOST = 2_048;
const TOKENS_MOST = 250_000;
const AT_ONCE = 8;
const MINUTE_MS = 60_000;
const TIMEOUT_MS = 60_000;
const ANSWER_BYTES_MAX = 128 * 1024 * 1024;
/** Far below what such models read at once, because the beginning of a long text says what it is about. */
const LIMITS = { tokens_most: 2_000, parts_most: 3 };
const MODEL = "text-embedding-3-small";
/** Of such models, texts that have nothing to do with one another come to 0.1. */
const SIMILAR_LEAST = 0.2;
/** How the names of models begin that run in this process. */
export const LOCAL = "local:";

export function embeddingsUpstream({ requests_per_minute, tokens_per_minute }: Settings): Upstream {
  const per_second = requests_per_minute / 60;
  return {
    name: "embeddings",
    budgets: {
      requests: { shape: "pace", per_second, burst: Math.max(10, Math.ceil(per_second)) },
      tokens: { shape: "window", most: tokens_per_minute, period_ms: MINUTE_MS },
    },
    shares: SHARES,
    concurrency: AT_ONCE,
  };
}

export interface EmbeddingsServer {
  url: string;
  key: string | null;
  model: string | null;
}

const Answered = z.object({
  data: z.array(z.object({ index: z.number().int(), embedding: z.array(z.number()) })),
});

/** A server at an address such as https://api.openai.com/v1, or that of its embeddings themselves. */
export function serverProvider({ url, key, model }: EmbeddingsServer, settings: Settings): Provider {
  const plain = url.replace(/\/+$/, "");
  const at = /\/embeddings$/.test(plain) ? plain : `${plain}/embeddings`;
  const { tokens_per_minute } = settings;
  const own = settings.dimensions > 0 ? `${model ?? MODEL}#${settings.dimensions}` : (model ?? MODEL);
  return {
    model: own,
    where: new URL(url).host,
    limits: { model: own, ...LIMITS },
    similar_least: SIMILAR_LEAST,
    // One call has to fit into the smallest share of a minute.
    request: {
      inputs_most: INPUTS_MOST,
      tokens_most: Math.min(TOKENS_MOST, Math.floor(tokens_per_minute * SHARES.other)),
    },
    // The server may have the model of before still.
    serves: (other) => !other.startsWith(LOCAL),
    async embed(texts, share, call, wanted = own) {
      const [named = wanted, dimensions] = wanted.split("#");
      const tokens = texts.reduce((sum, text) => sum + tokensOf(text), 0);
      const answer = await call(at, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          accept: "application/json",
          ...(key === null ? {} : { authorization: `Bearer ${key}` }),
        },
        // Always said: servers that do not know base64 have answered with something else instead.
        body: JSON.stringify({
          model: named,
          input: texts,
          encoding_format: "float",
          ...(dimensions === undefined ? {} : { dimensions: Number(dimensions) }),
        }),
        share,
        budgets: [{ budget: "requests" }, { budget: "tokens", cost: tokens }],
        settle: (given) => ({ requests: 1, tokens: usedOf(given) ?? tokens }),
        answers: [400, 413, 422],
        timeout_ms: TIMEOUT_MS,
        bytes_max: ANSWER_BYTES_MAX,
      });
      if ([400, 413, 422].includes(answer.status)) throw new InputsRefused(refusalOf(answer));
      if (answer.status !== 200)
        throw new TidemarkError("UpstreamChanged", `The server of embeddings answered HTTP ${answer.status}.`);
      return inOrder(answer.json(Answered).data, texts.length);
    },
  };
}

const Used = z.object({ usage: z.object({ total_tokens: z.number() }) });

function usedOf(answer: Answer): number | null {
  try {
    return answer.json(Used).usage.total_tokens;
  } catch {
    return null;
  }
}

function refusalOf(answer: Answer): string {
  const said = /"message"\s*:\s*"([^"]{1,300})/.exec(answer.text())?.[1];
  return `The server of embeddings refuses it (HTTP ${answer.status})${said ? `: ${said}` : ""}.`;
}

/** By their indexes, whatever order they came in; of length one, so that a product is a cosine. */
function inOrder(data: { index: number; embedding: number[] }[], count: number): Float32Array[] {
  const vectors: (Float32Array | undefined)[] = new Array(count).fill(undefined);
  for (const { index, embedding } of data) if (index >= 0 && index < count) vectors[index] = unit(embedding);
  const length = vectors[0]?.length ?? 0;
  if (vectors.some((vector) => vector === undefined || vector.length !== length || length === 0))
    throw new TidemarkError(
      "UpstreamChanged",
      `The server of embeddings did not answer each of ${count} texts with a vector.`,
    );
  return vectors as Float32Array[];
}

export function unit(numbers: ArrayLike<number>): Float32Array {
  const vector = Float32Array.from(numbers);
  let square = 0;
  for (const x of vector) square += x * x;
  const norm = Math.sqrt(square);
  if (!(norm > 0) || !Number.isFinite(norm))
    throw new TidemarkError("UpstreamChanged", "The server of embeddings sent a vector without a direction.");
  for (let i = 0; i < vector.length; i += 1) vector[i]! /= norm;
  return vector;
}

/** The model that was fetched into the folder of data, in a thread of this process. */
export function localProvider(model: LocalModel): Provider {
  const name = `${LOCAL}${model.name}`;
  return {
    model: name,
    where: "this process",
    limits: { model: name, tokens_most: 180, parts_most: 4 },
    // A commit after every few: they take seconds.
    request: { inputs_most: 32, tokens_most: 6_000 },
    similar_least: 0.25,
    serves: (other) => other === name,
    embed: (texts) => model.embed(texts),
  };
}

/** What the settings say; null where nothing embeds. */
export function providerOf(settings: Settings, { embeddings, data }: SharedSettings): Provider | null {
  if (embeddings?.url) return serverProvider({ ...embeddings, url: embeddings.url }, settings);
  const model = settings.model === "off" || data === undefined ? null : localModel(data);
  return model && localProvider(model);
}
