/** Log lines: JSON on stderr, readable on a terminal, one line for each event, and never a secret. */
import { Writable } from "node:stream";
import pino from "pino";
import pretty from "pino-pretty";
import type { LogLevel } from "./config.ts";
import { TidemarkError } from "./errors.ts";
import { type Events, eventLevel, eventSentence, type Level } from "./events.ts";
import { redact, redactor } from "./secrets.ts";

export interface Log {
  debug(sentence: string, fields?: Record<string, unknown>): void;
  info(sentence: string, fields?: Record<string, unknown>): void;
  warn(sentence: string, fields?: Record<string, unknown>): void;
  error(sentence: string, fields?: Record<string, unknown>): void;
  /** Whether a line of this level would be written at all. */
  writes(level: Level): boolean;
}

export interface LogOptions {
  level: LogLevel;
  /** Texts that no line may show; see `secretsOf` of the settings. */
  secrets?: readonly string[];
  /** Lines for people instead of JSON; by default when stderr is a terminal. */
  pretty?: boolean;
  /** Where lines go; by default to stderr, written before the call returns so that a crash loses none. */
  destination?: { write(line: string): void };
}

export function createLog(options: LogOptions): Log {
  const clean = redactor(options.secrets ?? []);
  const logger = pino(
    {
      level: options.level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    destinationOf(options),
  );
  const shown = onceShown();
  const write = (level: Level, sentence: string, fields: Record<string, unknown> = {}): void => {
    if (!logger.isLevelEnabled(level)) return;
    const whole = "error" in fields ? { ...fields, error: shown(fields.error) } : fields;
    logger[level](redact(whole, clean) as object, clean(sentence));
  };
  return {
    debug: (sentence, fields) => write("debug", sentence, fields),
    info: (sentence, fields) => write("info", sentence, fields),
    warn: (sentence, fields) => write("warn", sentence, fields),
    error: (sentence, fields) => write("error", sentence, fields),
    writes: (level) => logger.isLevelEnabled(level),
  };
}

/** Writes a line for every event from now on, until the returned function is called. */
export function logEvents(events: Events, log: Log): () => void {
  return events.onAny((name, fields) => {
    const level = eventLevel(name, fields);
    // The sentence of an event that nobody will read is not made: pulls end thousands of times a second.
    if (log.writes(level)) log[level](eventSentence(name, fields), { event: name, ...fields });
  });
}

function destinationOf(options: LogOptions): pino.DestinationStream {
  const for_people = options.pretty ?? (options.destination === undefined && process.stderr.isTTY);
  if (!for_people) return options.destination ?? pino.destination({ dest: 2, sync: true });
  const destination = options.destination;
  return pretty({
    sync: true,
    colorize: destination === undefined,
    translateTime: "SYS:HH:MM:ss.l",
    // The sentence already says what these fields say; JSON lines keep them for machines.
    include: "level,time,error",
    ...(destination ? { destination: asStream(destination) } : { destination: 2 }),
  });
}

function asStream(destination: { write(line: string): void }): Writable {
  return new Writable({
    write(chunk: Buffer, _encoding, done) {
      destination.write(chunk.toString());
      done();
    },
  });
}

/**
 * An error as fields. Its stack comes only with errors that nobody foresaw, and only the first time: one failed call
 * can end fifty pulls, and fifty equal stacks would bury the rest.
 */
function onceShown(): (thrown: unknown) => unknown {
  const seen = new WeakSet<object>();
  const describe = (thrown: unknown, depth: number): unknown => {
    if (!(thrown instanceof Error)) return thrown;
    const again = seen.has(thrown);
    seen.add(thrown);
    const foreseen = thrown instanceof TidemarkError && thrown.code !== "Unexpected";
    const fields: Record<string, unknown> = { message: thrown.message };
    if (thrown instanceof TidemarkError) Object.assign(fields, { code: thrown.code, details: thrown.details });
    if (!foreseen && !again) fields.stack = thrown.stack;
    if (thrown.cause !== undefined && depth < 4 && !again) fields.cause = describe(thrown.cause, depth + 1);
    return fields;
  };
  return (thrown) => describe(thrown, 0);
}
