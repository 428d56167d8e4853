/** Issues of the pretend GitHub: what people complain about, the same each time, and something to find that is said otherwise. */
import { TOKEN } from "./acme.ts";
import type { GitHub } from "./github/hub.ts";

export const ISSUE_REPOSITORIES = ["hooli/editor", "hooli/terminal"];
const DAY_MS = 86_400_000;
const PAST_DAYS = 300;
const ISSUES = 150;

const THINGS = [
  "the editor",
  "the terminal",
  "search",
  "the file tree",
  "settings",
  "the debugger",
  "an extension",
  "git",
];
const WRONGS: [string, string][] = [
  ["crashes", "The window closes without a word and everything since the last save is lost."],
  ["freezes", "It stops answering for half a minute, the fan spins up, then it goes on."],
  ["is slow", "Typing lags behind by a second as soon as the file has more than ten thousand lines."],
  ["forgets its state", "After a restart the open tabs and the layout are gone."],
  ["shows wrong colours", "With the dark theme the text is black on black and cannot be read."],
  [
    "throws TypeError: x is not a function",
    "Uncaught TypeError: x is not a function at Object.activate (extension.js:12:3)",
  ],
  ["ignores the keyboard", "Shortcuts do nothing until I click into the window once."],
  ["leaks memory", "It grows by a megabyte a minute until the system kills it."],
];
const TIMES = [
  "on start",
  "after an update",
  "when I open a large file",
  "over a remote connection",
  "on a second monitor",
  "with two windows",
];
const PEOPLE = ["ann", "bob", "carol", "dave", "erin", null];
const ANSWERS = [
  "I can reproduce this on the latest build.",
  "Does it help to start without extensions?",
  "This looks like a duplicate of an older one, but I cannot find it.",
  "Fixed by clearing the cache folder; please confirm.",
];

/** What a person writes, by a number: the same for the same number. */
export function complaint(no: number): { title: string; body: string; author: string | null; labels: string[] } {
  const thing = THINGS[(no * 7) % THINGS.length]!;
  const [wrong, story] = WRONGS[(no * 5 + Math.floor(no / 8)) % WRONGS.length]!;
  const time = TIMES[(no * 11 + Math.floor(no / 48)) % TIMES.length]!;
  const title = `${thing[0]!.toUpperCase()}${thing.slice(1)} ${wrong} ${time}`;
  const body = `<!-- Please say which version -->\n${story}\n\nVersion: 1.${no % 40}.${no % 7}\nError code: E${1000 + ((no * 37) % 9000)}`;
  const labels = [
    no % 3 === 0 ? "bug" : no % 3 === 1 ? "feature request" : "question",
    ...(no % 10 === 0 ? ["regression"] : []),
  ];
  return { title, body, author: PEOPLE[no % PEOPLE.length]!, labels };
}

/** Fills the repositories with a year of complaints. */
export function fillIssues(hub: GitHub, now_ms: number): void {
  hub.account("demo", { token: TOKEN, member: ["hooli"] });
  for (const [r, name] of ISSUE_REPOSITORIES.entries()) {
    hub.repository(name);
    const shelf = hub.issues(name);
    for (let n = 0; n < ISSUES; n += 1) {
      hub.now_ms = now_ms - PAST_DAYS * DAY_MS + Math.floor((n * PAST_DAYS * DAY_MS) / ISSUES);
      const { number } = shelf.file(complaint(n * 2 + r));
      for (let c = 0; c < n % 4; c += 1)
        shelf.comment(number, ANSWERS[(n + c) % ANSWERS.length]!, { association: c === 0 ? "MEMBER" : "NONE" });
      if (n % 5 < 3) shelf.close(number, n % 15 === 0 ? "NOT_PLANNED" : "COMPLETED");
    }
    for (let n = 1; n <= 40; n += 1) shelf.react(n, n % 9);
  }
  hub.now_ms = now_ms;
}
