/** The kind that embeds: what has no vector yet, of all repositories together, as much in each call as the server takes. */
import { type Batch, every, fresh, type Kind, kind, type Pull, TidemarkError } from "tidemark";
import { z } from "zod";
import {
  completeGeneration,
  countRetired,
  dropRetired,
  dropUnsaid,
  ensureGeneration,
  type Generation,
  isWhole,
  noteDimensions,
  readGenerations,
  reviveGeneration,
  vectors,
} from "./generation-rows.ts";
import { type Pack, packed } from "./packs.ts";
import type { SourceParts } from "./parts.ts";
import {
  type Failed,
  forgetUnembedded,
  noteFailed,
  noteOld,
  notePassages,
  readSpoken,
  readWanted,
  type Wanted,
} from "./passage-rows.ts";
import { InputsRefused, type Provider } from "./provider.ts";
import { COMMENTS_FIRST } from "./queries.ts";
import { passagesOf } from "./text.ts";
import { codeOf } from "./vector-code.ts";

/** Whoever writes texts wakes it at once, unless it is just at work: then it finds them when it looks by itself. */
const EVERY = "1m";
const EVERY_IDLE = "5m";
/** Texts that are looked at at once, and calls that are out at once. */
const WANTED_MOST = 6_000;
const CALLS_AT_ONCE = 4;
const FILL_MOST = 200;
const DROP_MOST = 2_000;
/** Vectors that nobody needs are looked for so often. */
const UNSAID_MS = 3_600_000;
/** What was refused is tried again after a day, then ever more rarely. */
const REFUSED_MS = 86_400_000;
/** A text that is refused is tried in half so often before it counts as failed; a short one is not refused for its length. */
const HALVINGS = 3;
const LONG_TOKENS = 100;

const Cursor = z.object({
  /** The generation for which every issue has been given its texts, … */
  filled: z.number().int().nullable(),
  /** … or how far that is. */
  after: z.object({ resource_id: z.string(), number: z.number().int() }),
  /** Calls of the pull under way. */
  done: z.number().int(),
  /** When vectors without a text were last looked for. */
  cleaned_ms: z.number(),
});
type Cursor = z.infer<typeof Cursor>;

const beginning = { resource_id: "0", number: 0 };

export function embeddingsKind(parts: SourceParts): Kind {
  return kind<Cursor>({
    upstream: () => parts.upstream(),
    lane: () => ({ name: "embeddings", fleet: 1 }),
    schedule: () => every(parts.provider() === null ? EVERY_IDLE : EVERY),
    cursor: Cursor.default({ filled: null, after: beginning, done: 0, cleaned_ms: 0 }),
    async *pull(pull) {
      const provider = parts.provider();
      if (provider === null) return fresh();
      const generation = yield* generationOf(pull, provider);
      yield* fill(pull, provider, generation);
      yield* embedAll(pull, provider, generation);
      yield* tidy(pull, generation);
      if (pull.cursor.done > 0) yield { cursor: { ...pull.cursor, done: 0 }, final: fresh() };
      return undefined;
    },
  });
}

type Steps<T = void> = AsyncGenerator<Batch<Cursor>, T>;

/** That of the model at hand, made if it is new. */
async function* generationOf(pull: Pull<Cursor>, { model, limits }: Provider): Steps<Generation> {
  const mine = (all: Generation[]) => all.find((one) => one.model === model && one.tokens_most === limits.tokens_most);
  const known = mine(await readGenerations(pull.read));
  if (known) return known;
  yield {
    write: async (tx) => {
      await ensureGeneration(tx, model, limits.tokens_most);
      await reviveGeneration(tx, model, limits.tokens_most);
    },
    cursor: { ...pull.cursor, filled: null, after: beginning, done: pull.cursor.done + 1 },
  };
  const made = mine(await readGenerations(pull.read));
  if (!made) throw new TidemarkError("Unexpected", `The generation of ${model} could not be made.`);
  return made;
}

/** Texts of issues that were mirrored before this model came. */
async function* fill(pull: Pull<Cursor>, { limits }: Provider, { generation }: Generation): Steps {
  while (pull.cursor.filled !== generation) {
    const { cursor } = pull;
    const spoken = await readSpoken(pull.read, limits.tokens_most, cursor.after, COMMENTS_FIRST, FILL_MOST);
    const last = spoken.at(-1);
    const after = last ? { resource_id: String(last.resource_id), number: last.number } : beginning;
    const byRepository = new Map<bigint, typeof spoken>();
    for (const one of spoken) byRepository.set(one.resource_id, [...(byRepository.get(one.resource_id) ?? []), one]);
    yield {
      write: async (tx) => {
        for (const [resource_id, list] of byRepository) {
          const silent = list.filter(({ written }) => !written);
          const rows = silent.flatMap((one) =>
            passagesOf(one, limits).map((passage) => ({
              ...passage,
              resource_id,
              number: one.number,
              tokens_most: limits.tokens_most,
            })),
          );
          await notePassages(tx, resource_id, limits, silent, rows);
          const numbers = list.map(({ number }) => number);
          await noteOld(tx, resource_id, limits.tokens_most, numbers);
        }
      },
      cursor: { ...cursor, filled: last ? null : generation, after, done: cursor.done + 1 },
    };
  }
}

/** Until nothing is wanted that can be had now. */
async function* embedAll(pull: Pull<Cursor>, provider: Provider, { generation }: Generation): Steps {
  for (;;) {
    const wanted = await readWanted(pull.read, generation, WANTED_MOST);
    const unsaid = wanted.filter(({ text }) => text === null).map(({ hash }) => hash);
    if (unsaid.length > 0) yield step(pull, { write: (tx) => forgetUnembedded(tx, generation, unsaid) });
    const packs = packed(
      wanted.filter(({ text }) => text !== null),
      provider.request,
      wanted.length < WANTED_MOST,
    );
    if (packs.length === 0) return;
    const call = pull.fetch;
    for (let i = 0; i < packs.length; i += CALLS_AT_ONCE) {
      const some = packs.slice(i, i + CALLS_AT_ONCE);
      const answers = await Promise.allSettled(some.map((pack) => embedPack(provider, pack, call)));
      // What was answered is kept, whatever became of the others: nothing is paid for twice.
      for (const answer of answers) if (answer.status === "fulfilled") yield* keep(pull, generation, answer.value);
      for (const answer of answers) if (answer.status === "rejected") throw answer.reason;
    }
  }
}

const step = (pull: Pull<Cursor>, batch: Batch): Batch<Cursor> => ({
  ...batch,
  cursor: { ...pull.cursor, done: pull.cursor.done + 1 },
});

interface Embedded {
  made: { hash: string; vector: Float32Array }[];
  failed: Failed[];
}

const vectorRow = (generation: number, { hash, vector }: Embedded["made"][number]) => ({
  generation,
  hash,
  vector: Array.from(vector),
  code: codeOf(vector),
});

/** Rows of a commit: vectors are wide. */
const KEPT_MOST = 500;

async function* keep(pull: Pull<Cursor>, generation: number, { made, failed }: Embedded): Steps {
  for (let i = 0; i < made.length || (i === 0 && failed.length > 0); i += KEPT_MOST) {
    const part = made.slice(i, i + KEPT_MOST);
    const last = i + KEPT_MOST >= made.length;
    yield step(pull, {
      put: [vectors.rows(part.map((one) => vectorRow(generation, one)))],
      write: async (tx) => {
        await forgetUnembedded(
          tx,
          generation,
          part.map(({ hash }) => hash),
        );
        if (part[0]) await noteDimensions(tx, generation, part[0].vector.length);
        if (last) await noteFailed(tx, generation, failed);
      },
    });
  }
}

/** Where the server refuses a pack, its halves are tried, until the text that it does not take is alone. */
async function embedPack(provider: Provider, { share, wanted }: Pack, call: Pull["fetch"]): Promise<Embedded> {
  try {
    const made = await provider.embed(
      wanted.map(({ text }) => text!),
      share,
      call,
    );
    return { made: wanted.map(({ hash }, i) => ({ hash, vector: made[i]! })), failed: [] };
  } catch (thrown) {
    if (!(thrown instanceof InputsRefused)) throw thrown;
    if (wanted.length === 1) return shortened(provider, { share, wanted }, call, thrown);
    const half = Math.ceil(wanted.length / 2);
    const parts = [wanted.slice(0, half), wanted.slice(half)];
    const both: Embedded = { made: [], failed: [] };
    for (const part of parts) {
      const { made, failed } = await embedPack(provider, { share, wanted: part }, call);
      both.made.push(...made);
      both.failed.push(...failed);
    }
    return both;
  }
}

/** A text that is too long for the server after all is read as far as it takes it. */
async function shortened(
  provider: Provider,
  { share, wanted }: Pack,
  call: Pull["fetch"],
  refused: InputsRefused,
): Promise<Embedded> {
  const { hash, tries, text, tokens } = wanted[0] as Wanted;
  for (let n = 1; n <= HALVINGS && tokens > LONG_TOKENS; n += 1) {
    try {
      const head = text!.slice(0, Math.ceil(text!.length / 2 ** n)).toWellFormed();
      const [vector] = await provider.embed([head], share, call);
      return { made: [{ hash, vector: vector! }], failed: [] };
    } catch (thrown) {
      if (!(thrown instanceof InputsRefused)) throw thrown;
    }
  }
  return { made: [], failed: [{ hash, reason: refused.message, wait_ms: REFUSED_MS * 2 ** Math.min(tries, 5) }] };
}

/** A generation that is whole takes over; what nobody needs any more goes, bit by bit. */
async function* tidy(pull: Pull<Cursor>, { generation, completed_at }: Generation): Steps {
  if (completed_at === null && (await isWhole(pull.read, generation)))
    yield step(pull, { write: (tx) => completeGeneration(tx, generation) });
  for (let dropped = await countRetired(pull.read); dropped > 0; )
    yield step(pull, {
      write: async (tx) => {
        dropped = await dropRetired(tx, DROP_MOST);
      },
    });
  if (pull.now_ms() - pull.cursor.cleaned_ms < UNSAID_MS) return;
  const before = new Date(pull.now_ms() - UNSAID_MS).toISOString();
  yield {
    write: async (tx) => {
      await dropUnsaid(tx, generation, before, DROP_MOST);
    },
    cursor: { ...pull.cursor, cleaned_ms: Math.floor(pull.now_ms()), done: pull.cursor.done + 1 },
  };
}
