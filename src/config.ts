/** Every setting once, with its name, default, meaning and limit; the only reader of the environment. */
import { isIP } from "node:net";
import { formatDuration, parseDuration } from "./duration.ts";
import { TidemarkError } from "./errors.ts";
import {
  type HostTokens,
  mask,
  maskHook,
  maskUrl,
  parseTokens,
  secretsOfHook,
  secretsOfUrl,
  showTokens,
} from "./secrets.ts";
import { nearest } from "./spelling.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

/** Reads a text, or throws a `Mistake` whose words follow the name of the setting. */
type Read<T> = (text: string) => T;
class Mistake extends Error {}

interface Setting<T> {
  name: string;
  standard: T;
  meaning: string;
  read: Read<T>;
  /** How `tidemark config` shows the value; whatever is secret in it is masked. */
  show: (value: T) => string;
  /** The parts of the value that must never be seen in a log. */
  secrets: (value: T) => readonly string[];
}

const unset = "(not set)";

function setting<T>(name: string, standard: T, meaning: string, read: Read<T>, more: Partial<Setting<T>> = {}) {
  const show = (value: T): string => (value === null ? unset : String(value));
  return { name, standard, meaning, read, show, secrets: () => [], ...more } satisfies Setting<T>;
}

function number(name: string, standard: number, [least, most]: [number, number], meaning: string) {
  return setting<number>(name, standard, `${meaning} (${least} to ${most})`, (text) => {
    const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    if (value >= least && value <= most) return value;
    const links = text.startsWith("tcp://") ? "; Kubernetes set it, so put enableServiceLinks: false in the pod" : "";
    throw new Mistake(`must be a whole number from ${least} to ${most}, not "${text}"${links}`);
  });
}

function duration(name: string, standard: string, [least, most]: [string, string], meaning: string) {
  const ms = (text: string): number => parseDuration(text) ?? Number.NaN;
  const read = (text: string): number => {
    const value = ms(text);
    if (value >= ms(least) && value <= ms(most)) return value;
    throw new Mistake(`must be a duration from ${least} to ${most} such as "${standard}", not "${text}"`);
  };
  const range = `${meaning} (${least} to ${most})`;
  return setting<number>(name, ms(standard), range, read, { show: (value) => formatDuration(value) });
}

function word(name: string, standard: string | null, meaning: string, more: Partial<Setting<string | null>> = {}) {
  const read = (text: string): string => {
    if (/^[\x20-\x7e]{1,1000}$/.test(text)) return text;
    throw new Mistake("must be at most 1000 printable ASCII characters");
  };
  return setting<string | null>(name, standard, meaning, read, more);
}

const hidden = {
  show: (value: string | null): string => (value === null ? unset : mask),
  secrets: (value: string | null): string[] => (value === null ? [] : [value]),
};

const hook = {
  show: (value: string | null): string => (value === null ? unset : maskHook(value)),
  secrets: (value: string | null): string[] => (value === null ? [] : secretsOfHook(value)),
};

type Url = Setting<string | null>;

function url(name: string, standard: string | null, protocols: string[], meaning: string, more: Partial<Url> = {}) {
  const read = (text: string): string => {
    const parsed = URL.canParse(text) ? new URL(text) : null;
    if (parsed && protocols.includes(parsed.protocol)) return text;
    // The text itself is not repeated: a URL that does not parse may still hold a password.
    throw new Mistake(`must be a URL that begins with ${protocols.map((p) => `${p}//`).join(" or ")}`);
  };
  const show = (value: string | null): string => (value === null ? unset : maskUrl(value));
  const secrets = (value: string | null): string[] => (value === null ? [] : secretsOfUrl(value));
  return setting<string | null>(name, standard, meaning, read, { show, secrets, ...more });
}

const postgres = ["postgres:", "postgresql:"];
const http = ["http:", "https:"];
const log_levels = ["debug", "info", "warn", "error", "silent"] as const;
export type LogLevel = (typeof log_levels)[number];

/** The field of `Config` on the left; the setting on the right. */
const settings = {
  database_url: url("DATABASE_URL", null, postgres, "the PostgreSQL to use; without it, the embedded database"),
  data: setting<string>("TIDEMARK_DATA", "./.tidemark", "the folder of the embedded database and of models", (t) => t),
  port: number("TIDEMARK_PORT", 8080, [0, 65_535], "the port of the HTTP server; 0 takes a free one"),
  host: setting<string>("TIDEMARK_HOST", "127.0.0.1", "the address that the HTTP server listens on", (t) => t),
  admin_token: word("TIDEMARK_ADMIN_TOKEN", null, "what a caller must show to change anything off loopback", hidden),
  read_token: word("TIDEMARK_READ_TOKEN", null, "what a caller must show to read off loopback", hidden),
  read_url: url("TIDEMARK_READ_URL", null, postgres, "a read replica for searches and feeds"),
  allow_private: setting<readonly string[]>(
    "TIDEMARK_ALLOW_PRIVATE",
    Object.freeze([]),
    "private addresses or CIDRs, with commas between, that upstream calls may go to",
    readRanges,
    { show: (value) => value.join(",") || "(none)" },
  ),
  proxy: url("TIDEMARK_PROXY", null, http, "the proxy to the open Internet; HTTP_PROXY and its like are not read"),
  github_tokens: setting<HostTokens>(
    "GITHUB_TOKENS",
    Object.freeze({}),
    'tokens bound to hosts: "github.com=a,b;ghe.corp.example=c"',
    (text) => {
      const tokens = parseTokens(text);
      if (tokens) return tokens;
      throw new Mistake('must say which host each token is for: "github.com=TOKEN,TOKEN;ghe.corp.example=TOKEN"');
    },
    { show: (value) => showTokens(value) || unset, secrets: (value) => Object.values(value).flat() },
  ),
  github_url: url("GITHUB_URL", "https://api.github.com", http, "the API root for github.com"),
  embeddings_url: url("EMBEDDINGS_URL", null, http, "an OpenAI-compatible server of embeddings"),
  embeddings_key: word("EMBEDDINGS_KEY", null, "the key for that server", hidden),
  embeddings_model: word("EMBEDDINGS_MODEL", null, "the model to ask that server for"),
  slots: number("TIDEMARK_SLOTS", 64, [1, 5_000], "pulls at once in one worker"),
  lease_ttl_ms: duration("TIDEMARK_LEASE_TTL", "30s", ["1s", "10m"], "how long a lease lives without being renewed"),
  grace_ms: duration("TIDEMARK_GRACE", "20s", ["0s", "10m"], "how long a stopping worker lets its pulls finish"),
  pull_timeout_ms: duration(
    "TIDEMARK_PULL_TIMEOUT",
    "10m",
    ["1s", "1d"],
    "a pull that commits nothing so long is ended",
  ),
  park_after: number("TIDEMARK_PARK_AFTER", 8, [1, 1_000], "failures in a row after which a resource is parked"),
  cool_off_ms: duration(
    "TIDEMARK_COOL_OFF",
    "1d",
    ["1m", "365d"],
    "how long a parked resource rests before it is tried",
  ),
  messages_max: number("TIDEMARK_MESSAGES_MAX", 1_000_000, [1, 1_000_000_000], "messages waiting per source"),
  parked_hook: url("TIDEMARK_PARKED_HOOK", null, http, "a URL to POST to when something is parked", hook),
  log_level: setting<LogLevel>(
    "TIDEMARK_LOG_LEVEL",
    "info",
    `the least level logged: ${log_levels.join(", ")}`,
    (text) => {
      const level = log_levels.find((known) => known === text);
      if (level) return level;
      throw new Mistake(`must be one of ${log_levels.join(", ")}, not "${text}"`);
    },
  ),
  contact: word("TIDEMARK_CONTACT", null, "a URL or address in the User-Agent, for whoever wonders who is calling"),
  pool: number("TIDEMARK_POOL", 10, [2, 500], "connections to PostgreSQL in one process"),
};

type Fields = typeof settings;
type Field = keyof Fields;
export type SettingValues = { readonly [F in Field]: Fields[F]["standard"] };

export interface Config extends SettingValues {
  /** Names of the settings that the environment gave. */
  readonly given: readonly string[];
  /** What the environment gave to each source, by lower-case name; each source declares and checks its own. */
  readonly source_settings: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

export interface ConfigRow {
  name: string;
  value: string;
  from: "default" | "environment";
  meaning: string;
}

/** The environment of this process with some of it replaced, for flags and for child processes. */
export function environmentWith(replaced: Environment = {}): Environment {
  return { ...process.env, ...replaced };
}

/** Every setting, checked and frozen. All mistakes are told at once; an empty variable counts as not set. */
export function readConfig(env: Environment = process.env, source_names: readonly string[] = []): Config {
  const values: Record<string, unknown> = {};
  const given: string[] = [];
  const mistakes: string[] = [];
  for (const [field, { name, standard, read }] of entries()) {
    values[field] = standard;
    const text = env[name]?.trim();
    if (!text) continue;
    try {
      values[field] = read(text);
      given.push(name);
    } catch (thrown) {
      if (!(thrown instanceof Mistake)) throw thrown;
      mistakes.push(`${name} ${thrown.message}`);
    }
  }
  if (values.read_url !== null && values.database_url === null && !env.DATABASE_URL) {
    mistakes.push("TIDEMARK_READ_URL needs DATABASE_URL too, since a replica cannot follow the embedded database");
  }
  mistakes.push(...unknownNames(env, source_names));
  if (mistakes.length > 0) {
    throw new TidemarkError("ConfigInvalid", `The settings cannot be used: ${mistakes.join("; ")}.`, {
      details: { mistakes },
    });
  }
  const source_settings = Object.fromEntries(source_names.map((name) => [name, settingsOfSource(env, name)]));
  return deepFreeze({ ...(values as unknown as SettingValues), given, source_settings });
}

/** A row for each setting, as `tidemark config` prints them; secrets are masked. */
export function describeConfig(config: Config): ConfigRow[] {
  return entries().map(([field, { name, show, meaning }]) => ({
    name,
    value: show(config[field]),
    from: config.given.includes(name) ? "environment" : "default",
    meaning,
  }));
}

/** Every text in the settings that must not be seen in a log. */
export function secretsOf(config: Config): string[] {
  const all = entries().flatMap(([field, { secrets }]) => [...secrets(config[field])]);
  return [...new Set(all)].filter((secret) => secret.length > 0);
}

/** What is allowed but probably not meant, a sentence each. */
export function configWarnings(config: Config): string[] {
  const loopback = /^(127\.|::1$|localhost$)/.test(config.host);
  const warnings: string[] = [];
  if (!loopback && config.admin_token === null) {
    warnings.push(
      `TIDEMARK_HOST is ${config.host} and TIDEMARK_ADMIN_TOKEN is not set, so nothing can be changed over HTTP from elsewhere.`,
    );
  }
  if (!loopback && config.read_token === null) {
    warnings.push(
      `TIDEMARK_HOST is ${config.host} and TIDEMARK_READ_TOKEN is not set, so whoever reaches it can read the mirror.`,
    );
  }
  if (config.embeddings_key !== null && config.embeddings_url === null) {
    warnings.push("EMBEDDINGS_KEY is set and EMBEDDINGS_URL is not, so the key is not used.");
  }
  return warnings;
}

/** The start of the names of a source's own settings: "go-modules" has TIDEMARK_GO_MODULES_. */
export function sourcePrefix(source_name: string): string {
  return `TIDEMARK_${source_name.toUpperCase().replaceAll("-", "_")}_`;
}

function entries(): [Field, Setting<unknown>][] {
  return Object.entries(settings) as unknown as [Field, Setting<unknown>][];
}

function settingsOfSource(env: Environment, source_name: string): Record<string, string> {
  const prefix = sourcePrefix(source_name);
  const mine = Object.entries(env).filter(([name, text]) => name.startsWith(prefix) && text?.trim());
  return Object.fromEntries(mine.map(([name, text]) => [name.slice(prefix.length).toLowerCase(), text!.trim()]));
}

/** Kubernetes gives every pod such variables for a service whose name begins with "tidemark"; they are nobody's mistake. */
const service_link = /_(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT_\d+_(TCP|UDP)(_\w+)?)$/;

function unknownNames(env: Environment, source_names: readonly string[]): string[] {
  const known = entries().map(([, { name }]) => name);
  const prefixes = source_names.map(sourcePrefix);
  return Object.keys(env)
    .filter((name) => name.startsWith("TIDEMARK_") && !known.includes(name) && !service_link.test(name))
    .filter((name) => !prefixes.some((prefix) => name.startsWith(prefix)) && !env[name]?.startsWith("tcp://"))
    .map((name) => {
      const near = nearest(name, known, 4);
      return `${name} is not a setting, ${near ? `use ${near}` : "remove it (`tidemark config` lists those there are)"}`;
    });
}

function readRanges(text: string): readonly string[] {
  const ranges = text.split(/[\s,]+/).filter(Boolean);
  for (const range of ranges) {
    const [address = "", bits, ...rest] = range.split("/");
    const most = isIP(address) === 6 ? 128 : 32;
    const fits = bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= most);
    if (isIP(address) && fits && rest.length === 0) continue;
    throw new Mistake(`must list addresses or CIDRs such as "10.0.0.0/8", and "${range}" is neither`);
  }
  return ranges;
}

/** Frozen all the way down, so that nobody changes a setting under another's feet. */
function deepFreeze<T extends object>(value: T): T {
  for (const inner of Object.values(value)) if (typeof inner === "object" && inner !== null) deepFreeze(inner);
  return Object.freeze(value);
}
