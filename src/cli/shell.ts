/** What commands need from outside of their folder, given to them by whoever builds the parts. */
import type { Clock } from "../clock.ts";
import type { Config, Environment } from "../config.ts";
import type { Source } from "../contract.ts";
import type { Send } from "./api.ts";
import type { Output } from "./output.ts";

export type Role = "up" | "worker" | "serve";

export interface Settings {
  config: Config;
  sources: Source[];
}

/** Pretend upstreams, and what it takes to run with them. */
export interface Demo {
  /** What takes the place of the environment's. */
  environment: Environment;
  follows: { source: string; key: string }[];
  /** What the greeting says of it, and addresses to look at. */
  lines: string[];
  tries: [string, string][];
  /** What can be made to happen there. */
  controls: {
    actions: { action: string; title: string; says: string }[];
    happened(): { at: string; sentence: string }[];
    act(action: string): string | null;
  };
  close(): Promise<void>;
}

export interface ServerInside {
  request: Send;
  close(): Promise<void>;
}

export interface Shell {
  output: Output;
  clock: Clock;
  environment: Environment;
  version: string;
  /** Loads the sources of these files, and reads the settings, theirs included. */
  settings(source_files: string[], environment?: Environment): Promise<Settings>;
  /** Starts the pretend upstreams. */
  demo(): Promise<Demo>;
  /** Where the demo has its database unless TIDEMARK_DATA says. */
  demo_data: string;
  /** A server without a port, in this process, on the database that the settings name. */
  inside(settings: Settings): Promise<ServerInside>;
  /** Runs until it is told to stop. */
  run(role: Role, settings: Settings, demo?: Demo): Promise<void>;
}

export interface SourceOptions {
  source?: string[];
}

export interface DataOptions extends SourceOptions {
  json?: boolean;
}

/** Prints the answer as JSON where that was asked for, and else what `words` make of it. */
export function print<T>(shell: Shell, options: { json?: boolean }, answer: T, words: (answer: T) => string[]): void {
  const lines = options.json ? [JSON.stringify(answer, null, 2)] : words(answer);
  for (const line of lines) shell.output.line(line);
}
