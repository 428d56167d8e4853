/** Keeps the embedded database's statements prepared, so that what comes again is not parsed and planned anew. */
import { messages, type PGlite, protocol } from "@electric-sql/pglite";
import type { Result } from "./db.ts";
import type { ValueParser } from "./parse.ts";

const { serialize } = protocol;
type Message = Awaited<ReturnType<PGlite["execProtocolStream"]>>[number];

/** How many are kept; the one not used for longest goes first. */
const kept_most = 300;
/** A kept plan suits the tables as they were when it was made: after so many uses a new one is made. */
const uses_most = 200;
/** After these a kept statement might answer with other columns, which PostgreSQL refuses. */
const changes_schema = /^(CREATE|ALTER|DROP)\b/;

interface Kept {
  name: string;
  uses: number;
}

export class Statements {
  readonly #lite: PGlite;
  readonly #parsers: Record<number, ValueParser>;
  /** By text, the one used last at the end. */
  readonly #kept = new Map<string, Kept>();
  #named = 0;
  /** Forgotten here, and to be closed there together with the next statement. */
  #closing: Uint8Array[] = [];

  constructor(lite: PGlite, parsers: Record<number, ValueParser>) {
    this.#lite = lite;
    this.#parsers = parsers;
  }

  query(text: string, values: (string | null)[]): Promise<Result<unknown>> {
    return this.#lite.runExclusive(() => this.#run(text, values));
  }

  /** Several statements at once, none of them kept; gives the command that the last one ended as. */
  async script(text: string): Promise<string> {
    const ended = (await this.#lite.exec(text)).map(({ command }) => command ?? "");
    if (ended.some((command) => changes_schema.test(command))) this.#forgetAll();
    return ended.at(-1) ?? "";
  }

  async #run(text: string, values: (string | null)[]): Promise<Result<unknown>> {
    const known = this.#known(text);
    const kept = known ?? { name: `s${++this.#named}`, uses: 0 };
    kept.uses += 1;
    const parts = this.#closing;
    this.#closing = [];
    if (!known) parts.push(serialize.parse({ name: kept.name, text }));
    parts.push(serialize.bind({ statement: kept.name, values }), serialize.describe({ type: "P" }));
    parts.push(serialize.execute({}), serialize.sync());
    const answer = await this.#lite.execProtocolStream(Buffer.concat(parts), { throwOnError: false });
    if (known || answer.some(({ name }) => name === "parseComplete")) this.#keep(text, kept);
    const failure = answer.find((message) => message instanceof messages.DatabaseError);
    if (!failure) return this.#read(answer);
    // Changed by something that hides it, such as a function: the next time is a first time.
    if (known && failure.code === "0A000") this.#forget(text, kept);
    throw failure;
  }

  #known(text: string): Kept | undefined {
    const kept = this.#kept.get(text);
    if (kept === undefined || kept.uses < uses_most) return kept;
    this.#forget(text, kept);
    return undefined;
  }

  #keep(text: string, kept: Kept): void {
    this.#kept.delete(text);
    this.#kept.set(text, kept);
    if (this.#kept.size <= kept_most) return;
    const [oldest] = this.#kept;
    this.#forget(...oldest!);
  }

  #forget(text: string, { name }: Kept): void {
    this.#kept.delete(text);
    this.#closing.push(serialize.close({ type: "S", name }));
  }

  #forgetAll(): void {
    for (const [text, kept] of [...this.#kept]) this.#forget(text, kept);
  }

  #read(answer: Message[]): Result<unknown> {
    let columns: { name: string; parse: ValueParser | undefined }[] = [];
    const rows: unknown[] = [];
    let command = "";
    for (const message of answer) {
      if (message instanceof messages.DataRowMessage) rows.push(rowOf(columns, message.fields));
      else if (message instanceof messages.CommandCompleteMessage) command = message.text;
      else if (message instanceof messages.RowDescriptionMessage)
        columns = message.fields.map(({ name, dataTypeID }) => ({ name, parse: this.#parsers[dataTypeID] }));
    }
    if (changes_schema.test(command)) this.#forgetAll();
    // A command that counts rows ends in their number: "SELECT 2", "INSERT 0 5"; all others end in a word.
    return { rows, count: Number(/ (\d+)$/.exec(command)?.[1] ?? 0) };
  }
}

function rowOf(columns: { name: string; parse: ValueParser | undefined }[], fields: (string | null)[]): unknown {
  const row: Record<string, unknown> = {};
  for (const [at, { name, parse }] of columns.entries()) {
    const text = fields[at] ?? null;
    row[name] = text === null || parse === undefined ? text : parse(text);
  }
  return row;
}
