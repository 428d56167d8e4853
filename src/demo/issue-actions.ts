/** What one can make happen to issues of the pretend GitHub, and to the pretend server of embeddings. */
import type { Action } from "./actions.ts";
import type { Embeddings } from "./embeddings/server.ts";
import type { GitHub } from "./github/hub.ts";
import type { Issue } from "./github/issues.ts";
import { complaint, ISSUE_REPOSITORIES } from "./issue-story.ts";

const BUSY_MS = 30_000;
/** So many issues of a repository are never deleted or moved away. */
const KEPT = 50;

export function issueActions(hub: GitHub, embeddings: Embeddings, now_ms: () => number): Record<string, Action> {
  const [home = "", other = ""] = ISSUE_REPOSITORIES;
  let no = 10_000;
  let changes = 0;
  const shelf = () => {
    hub.now_ms = now_ms();
    return hub.issues(home);
  };
  /** The newest ones in turn. */
  const some = (fits: (issue: Issue) => boolean = () => true): Issue | null => {
    const all = [...shelf().issues.values()].filter(fits);
    changes += 1;
    return all.length > KEPT ? all[all.length - 1 - (changes % KEPT)]! : null;
  };
  const told = (issue: Issue | null, what: (issue: Issue) => string) =>
    issue
      ? `${home}#${issue.number} ${what(issue)}`
      : "Nothing was done: the last issues are kept to have something to see.";
  return {
    "file-issue": {
      title: "File an issue",
      says: "It is found by its words after the next look, and by its meaning a moment later.",
      act: () => told(shelf().file(complaint(++no)), ({ title }) => `was filed: ${title}.`),
    },
    "edit-issue": {
      title: "Edit an issue",
      says: "What it says changes, so it gets another vector; the old one goes.",
      act: () =>
        told(some(), ({ number }) => {
          shelf().edit(number, { title: `Kernel panic number ${++no}`, body: "The machine reboots by itself." });
          return `now speaks of kernel panic number ${no}.`;
        }),
    },
    "close-issue": {
      title: "Close an issue",
      says: "Only its state changes: nothing is embedded again.",
      act: () =>
        told(
          some(({ state }) => state === "OPEN"),
          ({ number }) => {
            shelf().close(number);
            return "was closed.";
          },
        ),
    },
    "transfer-issue": {
      title: "Transfer an issue",
      says: "It is found in the other repository soon, and leaves the first with the next sweep: nothing tells of it.",
      act: () => told(some(), ({ number }) => `is now ${other}#${shelf().transfer(number, hub.issues(other)).number}.`),
    },
    "delete-issue": {
      title: "Delete an issue",
      says: "Nothing tells us: the next sweep finds it missing.",
      act: () =>
        told(some(), ({ number }) => {
          shelf().remove(number);
          return "was deleted.";
        }),
    },
    ...elsewhere(hub, embeddings, now_ms),
  };
}

/** What happens to more than one issue. */
function elsewhere(hub: GitHub, embeddings: Embeddings, now_ms: () => number): Record<string, Action> {
  const other = ISSUE_REPOSITORIES[1]!;
  return {
    "hide-issues": {
      title: "Make a repository of issues private, or public again",
      says: "With the next look all of its issues leave the search, or come back.",
      act: () => {
        const { isPrivate } = hub.find(other)!;
        hub.set(other, { isPrivate: !isPrivate });
        return `${other} is ${isPrivate ? "public again" : "private now"}.`;
      },
    },
    "embeddings-429": {
      title: "Let embeddings answer 429",
      says: "Half a minute of “too many requests”: searches go by words meanwhile, and nothing is lost.",
      act: () => {
        embeddings.closeUntil(now_ms() + BUSY_MS);
        return `The server of embeddings answers 429 for ${BUSY_MS / 1000} s.`;
      },
    },
  };
}
