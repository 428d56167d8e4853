/** Whether there is a git that repositories can be read with. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { type Finding, warning, yes } from "./finding.ts";

/** The oldest release that knows every switch we set. */
const OLDEST = [2, 36] as const;

export async function checkGit(program = "git"): Promise<Finding[]> {
  const said = await promisify(execFile)(program, ["--version"]).then(
    ({ stdout }) => stdout,
    () => null,
  );
  if (said === null)
    return [warning("git", "There is no git: repositories cannot be analysed. Install git 2.36 or newer.")];
  const [, major = "0", minor = "0"] = /(\d+)\.(\d+)/.exec(said) ?? [];
  const old = Number(major) < OLDEST[0] || (Number(major) === OLDEST[0] && Number(minor) < OLDEST[1]);
  return [
    old
      ? warning("git", `Git ${major}.${minor} is too old to analyse repositories: use ${OLDEST.join(".")} or newer.`)
      : yes("git", `Git ${major}.${minor}.`),
  ];
}
