/** Works out the report on one commit from its objects alone. */
import { readActivity } from "./activity.ts";
import type { ObjectStore } from "./git.ts";
import { BLOB_BYTES_MAX } from "./git-protocol.ts";
import { isOwn, isText, isWritten, languageOf, linesOf } from "./languages.ts";
import { isLicenceFile, licenceOf } from "./licence.ts";
import { isManifest, MANIFESTS_MOST, readManifest } from "./manifests.ts";
import type { Language, Licence, Manifest, Report, TestFile } from "./report.ts";
import { testsIn } from "./tests/inventory.ts";
import { isFile, isSubmodule, isSymlink, listTree, readFiles, type TreeFile } from "./tree.ts";

/** Of the contents of all files together; what comes after is counted and not read. */
const READ_BYTES_MAX = 256 * 1024 * 1024;
/** Test cases that are listed; more are counted. */
const CASES_MOST = 20_000;

/** What is gathered file by file. */
class Gathered {
  readonly languages = new Map<string, Language>();
  readonly manifests: Manifest[] = [];
  readonly tests: TestFile[] = [];
  licence: Licence = { spdx: null, file: null };
  not_read = 0;

  add({ path }: TreeFile, content: Buffer): void {
    if (!isText(content)) {
      this.not_read += 1;
      return;
    }
    if (isLicenceFile(path) && this.licence.spdx === null)
      this.licence = { spdx: licenceOf(content.toString("utf8")), file: path };
    if (!isOwn(path)) return;
    if (isManifest(path) && this.manifests.length < MANIFESTS_MOST)
      this.manifests.push(readManifest(path, content.toString("utf8")));
    const language = languageOf(path, content);
    if (language === null || isWritten(content)) return;
    const known = this.languages.get(language) ?? { language, files: 0, bytes: 0, lines: 0 };
    known.files += 1;
    known.bytes += content.length;
    known.lines += linesOf(content);
    this.languages.set(language, known);
    const tests = testsIn(path, language, content.toString("utf8"));
    if (tests) this.tests.push(tests);
  }
}

export async function analyse(objects: ObjectStore, commit: string, files_max: number): Promise<Report> {
  const tree = await listTree(objects, commit, { files_max });
  const plain = tree.filter(isFile);
  const gathered = new Gathered();
  const read: TreeFile[] = [];
  let budget = READ_BYTES_MAX;
  for (const file of plain) {
    const fits = file.bytes !== null && file.bytes <= BLOB_BYTES_MAX && file.bytes <= budget;
    if (fits) budget -= file.bytes!;
    if (fits) read.push(file);
    else gathered.not_read += 1;
  }
  // A licence at the top is found first wherever there are several.
  read.sort((a, b) => depthOf(a) - depthOf(b) || (a.path < b.path ? -1 : 1));
  for await (const { file, content } of readFiles(objects, read)) gathered.add(file, content);
  return {
    size: {
      files: plain.length,
      bytes: plain.reduce((sum, { bytes }) => sum + (bytes ?? 0), 0),
      not_read: gathered.not_read,
      symlinks: tree.filter(isSymlink).length,
      submodules: tree.filter(isSubmodule).length,
    },
    languages: [...gathered.languages.values()].sort((a, b) => b.bytes - a.bytes || (a.language < b.language ? -1 : 1)),
    tests: inventoryOf(gathered.tests),
    manifests: gathered.manifests,
    licence: gathered.licence,
    activity: await readActivity(objects, commit),
  };
}

const depthOf = ({ path }: TreeFile): number => path.split("/").length;

function inventoryOf(found: TestFile[]): Report["tests"] {
  const files = found.toSorted((a, b) => (a.file < b.file ? -1 : 1));
  const frameworks: Record<string, number> = {};
  let left = CASES_MOST;
  let [total_cases, total_suites] = [0, 0];
  const listed: TestFile[] = [];
  for (const one of files) {
    total_cases += one.cases.length;
    total_suites += one.suites;
    frameworks[one.framework] = (frameworks[one.framework] ?? 0) + one.cases.length;
    const cases = one.cases.slice(0, left);
    left -= cases.length;
    if (cases.length > 0 || one.cases.length === 0) listed.push({ ...one, cases });
  }
  const left_out = total_cases - (CASES_MOST - left);
  return { files: listed, total_files: files.length, total_suites, total_cases, left_out, frameworks };
}
