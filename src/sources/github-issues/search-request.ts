/** What a search asks for: words to find by meaning and by themselves, and operators that narrow it down. */
import { TidemarkError } from "tidemark";
import { readRepositoryName } from "./names.ts";

export const Q_LETTERS_MOST = 4_000;
const VALUES_MOST = 20;

export type State = "open" | "closed" | "all";

export interface SearchRequest {
  /** What is left of the query without its operators. */
  text: string;
  /** Phrases that have to be there, in a title, a body or a comment; and those that must not. */
  phrases: string[];
  not_phrases: string[];
  title: string[];
  not_title: string[];
  body: string[];
  not_body: string[];
  author: string[];
  not_author: string[];
  label: string[];
  not_label: string[];
  repo: { host: string; name: string }[];
  not_repo: { host: string; name: string }[];
  org: string[];
  not_org: string[];
  state: State;
  /** An issue that is named by its number. */
  number: number | null;
}

const operators = ["title", "body", "author", "label", "state", "is", "repo", "org"] as const;
type Operator = (typeof operators)[number];

const examples: Record<Operator, string> = {
  title: 'title:"black screen"',
  body: 'body:"stack trace"',
  author: "author:octocat",
  label: 'label:"good first issue"',
  state: "state:closed",
  is: "is:open",
  repo: "repo:microsoft/vscode",
  org: "org:microsoft",
};

const invalid = (sentence: string): never => {
  throw new TidemarkError("InputInvalid", sentence);
};

const empty = (): SearchRequest => ({
  text: "",
  phrases: [],
  not_phrases: [],
  title: [],
  not_title: [],
  body: [],
  not_body: [],
  author: [],
  not_author: [],
  label: [],
  not_label: [],
  repo: [],
  not_repo: [],
  org: [],
  not_org: [],
  state: "all",
  number: null,
});

/** Reads a query; what it does not understand is told in a sentence. */
export function readSearch(q: string): SearchRequest {
  if (q.length > Q_LETTERS_MOST)
    invalid(`q has ${q.length} letters; ${Q_LETTERS_MOST} at most. The first lines of an error are enough.`);
  // What the database cannot hold is nowhere to be found either.
  const query = q.toWellFormed().replaceAll("\u0000", " ").trim();
  const request = empty();
  const words: string[] = [];
  const states = new Set<State>();
  for (const part of partsOf(query)) {
    if (part.is === "word") words.push(part.text);
    else if (part.is === "phrase") (part.not ? request.not_phrases : request.phrases).push(part.text);
    else take(request, part, states);
  }
  if (states.size > 1) invalid("state: is given twice, once open and once closed; state:all finds both.");
  for (const state of states) request.state = state;
  request.text = words.join(" ");
  for (const values of Object.values(request))
    if (Array.isArray(values) && values.length > VALUES_MOST)
      invalid(`Any operator may be there ${VALUES_MOST} times at most.`);
  return named(request);
}

type Part =
  | { is: "word"; text: string }
  | { is: "phrase"; text: string; not: boolean }
  | { is: "operator"; operator: Operator; value: string; not: boolean };

/** At the beginning of a word only: `subtitle:"x"` is no title. */
const PART = /(-?)([a-z]+):(?:"([^"]*)("?)|(\S*))|(-?)"([^"]*)("?)|\S+/giy;

function* partsOf(query: string): Generator<Part> {
  let at = 0;
  while (at < query.length) {
    const blank = /^\s*/.exec(query.slice(at))![0].length;
    at += blank;
    if (at >= query.length) return;
    PART.lastIndex = at;
    const match = PART.exec(query)!;
    const [whole, not, name, quoted, quoted_end, bare, not_phrase, phrase, phrase_end] = match;
    const operator = operators.find((one) => one === name?.toLowerCase());
    if (name !== undefined && operator === undefined) {
      // Not one of ours: "TypeError:" is the beginning of an error, and a colon a letter like any other.
      const word = /^\S+?:(?=")|^\S+/.exec(query.slice(at))![0];
      yield { is: "word", text: word };
      at += word.length;
      continue;
    }
    at += whole.length;
    if (operator !== undefined) {
      if (quoted !== undefined && quoted_end === "") unclosed(`${operator}:"${quoted}`);
      yield { is: "operator", operator, value: (quoted ?? bare ?? "").trim(), not: not === "-" };
    } else if (phrase !== undefined) {
      if (phrase_end === "") unclosed(`"${phrase}`);
      if (phrase.trim() !== "") yield { is: "phrase", text: phrase.trim(), not: not_phrase === "-" };
    } else yield { is: "word", text: whole };
  }
}

function unclosed(text: string): never {
  return invalid(`The quotation mark in ${text.slice(0, 60)} is not closed: add one at its end, or leave it out.`);
}

function take(request: SearchRequest, part: Extract<Part, { is: "operator" }>, states: Set<State>): void {
  const { operator, value, not } = part;
  if (value === "") invalid(`${operator}: needs a value, such as ${examples[operator]}.`);
  if (operator === "state" || operator === "is") {
    if (operator === "is" && value.toLowerCase() === "issue" && !not) return;
    states.add(stateOf(operator, value, not));
  } else if (operator === "repo") {
    const name = readRepositoryName(value);
    if (!name) {
      invalid(`"${value.slice(0, 60)}" is no repository; write owner and name, such as ${examples.repo}.`);
      return;
    }
    (not ? request.not_repo : request.repo).push({ host: name.host, name: `${name.owner}/${name.name}` });
  } else {
    const field = not ? (`not_${operator}` as const) : operator;
    request[field].push(operator === "author" ? value.replace(/^@/, "") : value);
  }
}

function stateOf(operator: string, value: string, not: boolean): State {
  const state = (["open", "closed", "all"] as const).find((one) => one === value.toLowerCase());
  if (state === undefined || (operator === "is" && state === "all") || (not && state === "all"))
    return invalid(
      `${operator}: is open or closed${operator === "state" ? " or all" : ""}, not "${value.slice(0, 60)}".`,
    );
  return not ? (state === "open" ? "closed" : "open") : state;
}

/** "#12", "acme/x#12", or the address of an issue. */
function named(request: SearchRequest): SearchRequest {
  const address = /^https?:\/\/([^/\s]+)\/([^/\s]+\/[^/\s]+)\/issues\/(\d{1,9})\S*$/i.exec(request.text);
  const short = /^(?:([a-z0-9][\w-]*\/[\w.-]+))?#(\d{1,9})$/i.exec(request.text);
  const [host, name, number] = address ? address.slice(1) : ["github.com", short?.[1], short?.[2]];
  if (number === undefined) return request;
  const repo = name === undefined ? request.repo : [{ host: host!.toLowerCase(), name: name.toLowerCase() }];
  return { ...request, number: Number(number), repo };
}

/** Whether it narrows down nothing but which repositories are meant. */
export const isNarrow = (request: SearchRequest): boolean =>
  request.state !== "all" ||
  (Object.keys(request) as (keyof SearchRequest)[]).some(
    (field) => Array.isArray(request[field]) && (request[field] as unknown[]).length > 0 && !/^(repo|org)$/.test(field),
  );
