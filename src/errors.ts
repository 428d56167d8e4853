/** The catalogue of errors, named by their consequence and sorted by what should happen next. */

export type Retry = "now" | "later" | "never";

/** Every code there is: what happens next, and what it means to the person who reads it. docs/errors.md is kept equal to this. */
export const catalogue = {
  ConfigInvalid: {
    retry: "never",
    says: "A setting is missing or wrong. The sentence names it; correct it and start again.",
  },
  InputInvalid: {
    retry: "never",
    says: "A key, option or parameter was not understood. The sentence says what is expected.",
  },
  NotFollowed: {
    retry: "never",
    says: "The resource named is not there. `tidemark status SOURCE` lists those that are.",
  },
  StoreDown: {
    retry: "later",
    says: "The database cannot be reached or dropped the connection. Workers pause and go on by themselves.",
  },
  StoreLocked: {
    retry: "never",
    says: "Another process holds the embedded database. Use that one over HTTP, or stop it.",
  },
  SchemaTooNew: { retry: "never", says: "The database was migrated by a newer release. Run that release." },
  SchemaTooOld: { retry: "never", says: "The database lacks migrations. Run `tidemark migrate`." },
  MigrationEdited: {
    retry: "never",
    says: "A migration that was already applied was edited afterwards. Restore it and add a new one.",
  },
  LeaseLost: {
    retry: "never",
    says: "The lease ended before the commit; nothing was written. Another worker has the resource now.",
  },
  CursorStuck: {
    retry: "later",
    says: "A pull yielded again without moving its cursor, or moved it backwards. This is a defect of the source.",
  },
  BatchTooBig: {
    retry: "later",
    says: "A batch held more than 5,000 rows or 8 MB. The source has to yield more often.",
  },
  BatchInvalid: {
    retry: "later",
    says: "A batch did not fit what its source declared. This is a defect of the source.",
  },
  PullTooLong: {
    retry: "later",
    says: "A pull ran past its time without committing. The upstream may be hanging; it is tried again.",
  },
  MailboxFull: {
    retry: "later",
    says: "Too many messages are waiting to be handled; whoever posts waits until there is room.",
  },
  UpstreamBusy: {
    retry: "later",
    says: "The upstream asked us to wait, or our allowance is spent. Nothing is wrong; it goes on at the time given.",
  },
  UpstreamDown: {
    retry: "later",
    says: "The upstream did not answer, or answered with a server error. It is tried again by itself.",
  },
  UpstreamChanged: {
    retry: "later",
    says: "The upstream's answer was not what its protocol promises. Nothing was committed.",
  },
  UpstreamForbids: { retry: "later", says: "The upstream refuses us. Check the credentials for that host." },
  UpstreamGone: { retry: "later", says: "The upstream says that this no longer exists." },
  OutboundForbidden: {
    retry: "later",
    says: "What was to be called is not an address of the open Internet. TIDEMARK_ALLOW_PRIVATE can allow it.",
  },
  Unexpected: {
    retry: "later",
    says: "Something failed that nobody foresaw. The log has the stack; please report it.",
  },
} as const satisfies Record<string, { retry: Retry; says: string }>;

export type ErrorCode = keyof typeof catalogue;

export interface ErrorOptions {
  details?: Record<string, unknown>;
  cause?: unknown;
  /** How long to wait before trying again, where somebody told us. */
  wait_ms?: number;
  /** False where the resource is innocent: it waits, and nothing is counted against it. */
  charged?: boolean;
}

export class TidemarkError extends Error {
  readonly code: ErrorCode;
  readonly retry: Retry;
  readonly details: Record<string, unknown>;
  readonly wait_ms: number | undefined;
  readonly charged: boolean;

  constructor(code: ErrorCode, sentence: string, options: ErrorOptions = {}) {
    super(sentence, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = code;
    this.code = code;
    this.retry = catalogue[code].retry;
    this.details = options.details ?? {};
    this.wait_ms = options.wait_ms;
    this.charged = options.charged ?? true;
  }
}

/** Any thrown value as one of ours; what is not ours is Unexpected, with its cause. */
export function asTidemarkError(thrown: unknown): TidemarkError {
  if (thrown instanceof TidemarkError) return thrown;
  const sentence = thrown instanceof Error ? thrown.message : String(thrown);
  return new TidemarkError("Unexpected", sentence || "an error without a message", { cause: thrown });
}

export function hasCode(thrown: unknown, code: ErrorCode): thrown is TidemarkError {
  return thrown instanceof TidemarkError && thrown.code === code;
}
