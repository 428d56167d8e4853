/** Titles of made-up issues, of which more are made by numbers. */
const THINGS = [
  "The editor",
  "The terminal",
  "Search",
  "The file tree",
  "Settings",
  "The debugger",
  "An extension",
  "Git",
  "The minimap",
  "A notebook",
];
const WRONGS = [
  "crashes",
  "freezes for seconds",
  "lags behind typing",
  "forgets its state",
  "leaks memory",
  "flickers",
  "shows wrong colours",
  "ignores the keyboard",
];
const TIMES = [
  "on start",
  "after an update",
  "with large files",
  "over a remote connection",
  "on a second monitor",
  "with two windows",
  "while debugging",
];

export const OPEN_QUESTIONS: readonly string[] = THINGS.flatMap((thing) =>
  WRONGS.flatMap((wrong) => TIMES.map((time) => `${thing} ${wrong} ${time}`)),
);
