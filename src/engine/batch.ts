/** Checks what a source yields before anything of it is written: size, cursor, messages. */
import type { Batch, Kind, Post } from "../contract.ts";
import { TidemarkError } from "../errors.ts";
import { toJson } from "../mirror/table.ts";

export const ROWS_MAX = 5_000;
export const BYTES_MAX = 8 * 1024 * 1024;

/** How many rows of all sorts a batch writes. */
export function rowsOf(batch: Batch): number {
  let rows = (batch.post?.length ?? 0) + (batch.children?.found.length ?? 0);
  rows += (batch.touch?.length ?? 0) + (batch.vouch?.length ?? 0);
  for (const put of batch.put ?? []) rows += put.rows.length;
  for (const drop of batch.drop ?? []) rows += drop.keys.length;
  for (const published of batch.publish ?? []) rows += published.entries.length;
  return rows;
}

/** Whether a batch writes anything beyond the resource itself. */
export function isEmpty(batch: Batch): boolean {
  return rowsOf(batch) === 0 && !batch.children?.complete && !batch.write && !batch.write_together;
}

export function checkSize(batch: Batch, name: string): void {
  const rows = rowsOf(batch);
  if (rows > ROWS_MAX)
    throw new TidemarkError(
      "BatchTooBig",
      `A batch of ${name} has ${rows} rows; at most ${ROWS_MAX} commit together. Yield more often.`,
    );
  let bytes = 0;
  for (const row of rowsWithText(batch)) {
    for (const value of Object.values(row)) {
      if (typeof value === "string") bytes += value.length;
      else if (value instanceof Uint8Array) bytes += value.length * 2;
      else if (typeof value === "object" && value !== null) bytes += toJson(value).length;
      else bytes += 8;
    }
    if (bytes > BYTES_MAX)
      throw new TidemarkError("BatchTooBig", `A batch of ${name} is larger than 8 MB. Yield more often.`, {
        details: { rows },
      });
  }
}

function* rowsWithText(batch: Batch): Generator<object> {
  for (const put of batch.put ?? []) yield* put.rows;
  for (const published of batch.publish ?? []) yield* published.entries;
  for (const post of batch.post ?? []) yield { message: post.message };
}

/** A cursor as the kind declares it; what does not fit is a defect of the source. */
export function checkCursor(kind: Kind, cursor: unknown, of: { readonly name: string }): unknown {
  const parsed = kind.cursor.safeParse(cursor);
  if (parsed.success) return parsed.data;
  throw new TidemarkError(
    "BatchInvalid",
    `The cursor of ${of.name} is not what its kind declares: ${parsed.error.message}`,
    {
      details: { cursor },
    },
  );
}

/** Going backwards is refused where positions compare; yielding again at the same cursor is refused everywhere. */
export function checkMove(kind: Kind, before: unknown, after: unknown, name: string): void {
  if (kind.position) {
    const from = kind.position(before);
    const to = kind.position(after);
    if (to < from) throw new TidemarkError("CursorStuck", `The cursor of ${name} went back from ${from} to ${to}.`);
  }
}

/** A message as the kind that will receive it declares it, ready to be stored. */
export function checkPost(target: Kind, post: Post): { payload: string; coalesce_key: string | null } {
  if (!target.message || !target.receive)
    throw new TidemarkError("BatchInvalid", `The kind "${post.kind}" receives no messages.`);
  const parsed = target.message.safeParse(post.message);
  if (!parsed.success)
    throw new TidemarkError(
      "BatchInvalid",
      `A message to ${post.kind} ${post.key} is not what its kind declares: ${parsed.error.message}`,
    );
  const coalesce_key = target.coalesce?.(parsed.data) ?? null;
  return { payload: toJson(parsed.data), coalesce_key };
}
