/** The local model is fetched whole or not at all. */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fetchModel, fromAddress } from "./fetch.ts";
import { checkFiles, isFetched, type ModelFiles, modelFolder, sha256 } from "./files.ts";
import { localModel } from "./local.ts";
import { filesIn } from "./tar.ts";

const contents: Record<string, string> = { "tokenizer.json": "{}", "onnx/model.onnx": "weights" };
const model: ModelFiles = {
  name: "tiny",
  packed: { spec: "none@0", folder: "package/model" },
  files: Object.entries(contents).map(([file, text]) => ({ path: file, sha256: sha256(Buffer.from(text)) })),
};
const served: Record<string, string> = {};
let server: Server;
let address: string;
let data: string;

beforeAll(async () => {
  data = mkdtempSync(path.join(os.tmpdir(), "tidemark-test-"));
  server = createServer((request, response) => {
    const text = served[request.url ?? ""];
    response.writeHead(text === undefined ? 404 : 200).end(text);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/minilm`;
});
afterAll(() => {
  server.close();
  rmSync(data, { recursive: true });
});

describe("a model", () => {
  it("is not there before it was fetched", () => {
    expect(isFetched(data, model)).toBe(false);
    expect(localModel(data, model)).toBe(null);
  });

  it("that is not what it should be is not put in place", async () => {
    Object.assign(served, { "/minilm/tokenizer.json": "{}", "/minilm/onnx/model.onnx": "other weights" });
    await expect(fetchModel(data, model, fromAddress(address))).rejects.toThrow(
      /onnx\/model.onnx is not what it should be: its sha256 is/,
    );
    expect(isFetched(data, model)).toBe(false);
  });

  it("of which a file is missing is not put in place", async () => {
    await expect(fetchModel(data, model, fromAddress(`${address}/else/`))).rejects.toThrow(
      /tokenizer.json answered HTTP 404/,
    );
    expect(isFetched(data, model)).toBe(false);
  });

  it("is fetched from an address, and checked whenever it is asked for", async () => {
    served["/minilm/onnx/model.onnx"] = "weights";
    await fetchModel(data, model, fromAddress(address));
    expect([isFetched(data, model), await checkFiles(data, model)]).toEqual([true, []]);
    writeFileSync(path.join(modelFolder(data, model), "tokenizer.json"), "[]");
    expect(await checkFiles(data, model)).toEqual(["tokenizer.json is not what it should be"]);
  });
});

it("files are read out of an archive by their names, long ones too", () => {
  const folder = path.join(data, "package");
  const deep = `${"a-long-name/".repeat(12)}file.txt`;
  mkdirSync(path.join(folder, path.dirname(deep)), { recursive: true });
  writeFileSync(path.join(folder, deep), "deep");
  writeFileSync(path.join(folder, "b.txt"), "x".repeat(1_000));
  execFileSync("tar", ["--format=pax", "-cf", "a.tar", "package"], { cwd: data });
  const found = filesIn(
    readFileSync(path.join(data, "a.tar")),
    new Set([`package/${deep}`, "package/b.txt", "package/c"]),
  );
  const told = [...found].map(([name, bytes]) => [name, Buffer.from(bytes).toString()]).sort();
  expect(told).toEqual([
    [`package/${deep}`, "deep"],
    ["package/b.txt", "x".repeat(1_000)],
  ]);
});
