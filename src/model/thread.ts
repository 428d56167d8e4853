/** The thread in which the local model runs, so that it does not stop the process. */
import { readFile } from "node:fs/promises";
import path from "node:path";
import { parentPort, workerData } from "node:worker_threads";
import { Tokenizer } from "@huggingface/tokenizers";
import * as ort from "onnxruntime-web";

export interface ModelAsked {
  id: number;
  texts: string[];
}
export type ModelAnswer = { id: number; vectors: Float32Array[] } | { id: number; failed: string };

/** Beyond this it was not trained to read. */
const TOKENS_MOST = 192;
/** Texts that go through at once: more take more memory and are no faster. */
const AT_ONCE = 8;

const folder = workerData as string;
const read = (file: string) => readFile(path.join(folder, file));
const json = async (file: string) => JSON.parse((await read(file)).toString()) as object;

ort.env.wasm.numThreads = 1;
const tokenizer = new Tokenizer(await json("tokenizer.json"), await json("tokenizer_config.json"));
const session = await ort.InferenceSession.create(await read("onnx/model_q4.onnx"), {
  externalData: [{ path: "model_q4.onnx_data", data: await read("onnx/model_q4.onnx_data") }],
});

/** The ids of a text's tokens; what is cut off leaves the last one in its place, which says that it ends. */
function idsOf(text: string): number[] {
  const { ids } = tokenizer.encode(text) as { ids: number[] };
  return ids.length <= TOKENS_MOST ? ids : [...ids.slice(0, TOKENS_MOST - 1), ids.at(-1)!];
}

async function embed(all: number[][]): Promise<Float32Array[]> {
  const width = Math.max(...all.map((ids) => ids.length));
  const input = new BigInt64Array(all.length * width);
  const mask = new BigInt64Array(all.length * width);
  all.forEach((ids, row) => {
    ids.forEach((id, at) => {
      input[row * width + at] = BigInt(id);
      mask[row * width + at] = 1n;
    });
  });
  const tensor = (data: BigInt64Array) => new ort.Tensor("int64", data, [all.length, width]);
  const types = new BigInt64Array(input.length);
  const { last_hidden_state: hidden } = await session.run({
    input_ids: tensor(input),
    attention_mask: tensor(mask),
    token_type_ids: tensor(types),
  });
  const size = hidden!.dims[2]!;
  const values = hidden!.data as Float32Array;
  return all.map((ids, row) => meanOf(values, row * width * size, ids.length, size));
}

/** The mean of what the model makes of each token, of length one. */
function meanOf(values: Float32Array, begin: number, tokens: number, size: number): Float32Array {
  const mean = new Float32Array(size);
  for (let t = 0; t < tokens; t += 1) for (let i = 0; i < size; i += 1) mean[i]! += values[begin + t * size + i]!;
  const norm = Math.hypot(...mean) || 1;
  return mean.map((x) => x / norm);
}

/** Texts of about one length together, because all are as long as the longest. */
async function embedAll(texts: string[]): Promise<Float32Array[]> {
  const tokens = texts.map((text, at) => ({ at, ids: idsOf(text) })).sort((a, b) => a.ids.length - b.ids.length);
  const vectors: Float32Array[] = new Array(texts.length);
  for (let i = 0; i < tokens.length; i += AT_ONCE) {
    const part = tokens.slice(i, i + AT_ONCE);
    (await embed(part.map(({ ids }) => ids))).forEach((vector, n) => {
      vectors[part[n]!.at] = vector;
    });
  }
  return vectors;
}

const port = parentPort!;
/** One after the other: a search waits for one small pack at most. */
let turn: Promise<void> = Promise.resolve();
port.on("message", ({ id, texts }: ModelAsked) => {
  turn = turn.then(async () => {
    try {
      port.postMessage({ id, vectors: await embedAll(texts) } satisfies ModelAnswer);
    } catch (thrown) {
      port.postMessage({ id, failed: thrown instanceof Error ? thrown.message : String(thrown) } satisfies ModelAnswer);
    }
  });
});
