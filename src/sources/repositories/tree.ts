/** The files of one commit: their names and sizes, and the contents of those that are read. */
import type { ObjectStore } from "./git.ts";
import { tooLarge } from "./git.ts";
import { BLOB_BYTES_MAX } from "./git-protocol.ts";
import { broken } from "./pkt-line.ts";

/** Names of files take at most so much altogether. */
const NAMES_BYTES_MAX = 64 * 1024 * 1024;

export interface TreeFile {
  path: string;
  oid: string;
  mode: string;
  /** Null where the server left it out, because it is large. */
  bytes: number | null;
}

export interface TreeLimits {
  files_max: number;
}

/** Every file, symbolic link and submodule; the last two have no bytes of their own. */
export async function listTree(objects: ObjectStore, commit: string, { files_max }: TreeLimits): Promise<TreeFile[]> {
  const listed = await objects.text(["ls-tree", "-r", "-z", "--full-tree", commit], NAMES_BYTES_MAX);
  const files: TreeFile[] = [];
  let at = 0;
  while (at < listed.length) {
    const end = listed.indexOf(0, at);
    const entry = /^(\d{6}) (\w+) ([0-9a-f]+)\t([\s\S]+)$/.exec(listed.toString("utf8", at, end));
    if (!entry) throw broken("holds a tree that cannot be read");
    const [, mode = "", , oid = "", path = ""] = entry;
    files.push({ path, oid, mode, bytes: 0 });
    if (files.length > files_max) throw tooLarge(`has more than ${files_max} files`);
    at = end + 1;
  }
  await addSizes(objects, files);
  return files;
}

export const isFile = ({ mode }: TreeFile): boolean => mode.startsWith("100");
export const isSymlink = ({ mode }: TreeFile): boolean => mode === "120000";
export const isSubmodule = ({ mode }: TreeFile): boolean => mode === "160000";

async function addSizes(objects: ObjectStore, files: TreeFile[]): Promise<void> {
  const plain = files.filter(isFile);
  if (plain.length === 0) return;
  const words = ["cat-file", "--batch-check=%(objectname) %(objectsize)"];
  const input = plain.map(({ oid }) => `${oid}\n`).join("");
  const answer = await objects.text(words, NAMES_BYTES_MAX, input);
  for (const [i, text] of answer.toString("latin1").trimEnd().split("\n").entries()) {
    const size = text.split(" ")[1];
    plain[i]!.bytes = size === undefined || size === "missing" ? null : Number(size);
  }
}

/** The contents of these files, each small enough to be held; a file that is twice there is given twice. */
export async function* readFiles(
  objects: ObjectStore,
  files: readonly TreeFile[],
): AsyncGenerator<{ file: TreeFile; content: Buffer }> {
  const wanted = files.filter(({ bytes }) => bytes !== null && bytes <= BLOB_BYTES_MAX);
  if (wanted.length === 0) return;
  const input = wanted.map(({ oid }) => `${oid}\n`).join("");
  let held: Buffer = Buffer.alloc(0);
  let n = 0;
  for await (const part of objects.read(["cat-file", "--batch"], input)) {
    held = held.length === 0 ? part : Buffer.concat([held, part]);
    for (;;) {
      const end = held.indexOf(10);
      if (end < 0) break;
      const size = Number(held.toString("latin1", 0, end).split(" ")[2]);
      if (!Number.isSafeInteger(size)) throw broken("lacks a file that it listed");
      if (held.length < end + 1 + size + 1) break;
      yield { file: wanted[n]!, content: held.subarray(end + 1, end + 1 + size) };
      n += 1;
      held = held.subarray(end + 1 + size + 1);
    }
  }
}
