/** What answers of the pretend GitHub are made with: values that know their type, pages and their cursors. */
import { GraphQLError } from "graphql";
import type { Issue } from "./issues.ts";
import type { Repository, World } from "./world.ts";

/** Who asks, when, and what the query costs. */
export interface Asking {
  world: World;
  viewer: string | null;
  /** The number of this call; where GitHub promises no order, the order depends on it. */
  no: number;
  rate: { cost: number; limit: number; remaining: number; used: number; resetAt: string; nodeCount: number } | null;
  /** Told of each repository that the answer speaks of. */
  met(repository: Repository): void;
  /** Whether GitHub says less of an issue than there is, on a page with so many of them. */
  cuts_short(issue: Issue, wide: number): boolean;
}

export type Args = Record<string, unknown>;

/** A value with the name of its type, which is how interfaces are told apart. */
export const typed = <T extends object>(type: string, value: T) => ({ __typename: type, value });
export type Typed<T> = { value: T };

export const iso = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`;

export const notFound = (message: string) => new GraphQLError(message, { extensions: { type: "NOT_FOUND" } });

export function page<T>(all: readonly T[], args: Args, cursorOf: (index: number) => string) {
  const first = Number(args.first);
  const begin = typeof args.after === "string" ? readCursor(args.after) : 0;
  const nodes = all.slice(begin, begin + first);
  const end = begin + nodes.length;
  return {
    totalCount: all.length,
    nodes,
    pageInfo: { hasNextPage: end < all.length, endCursor: nodes.length > 0 ? cursorOf(end) : null },
  };
}

/** A cursor is the number of what came before it, as GitHub's are for refs. */
export const writeCursor = (end: number): string => Buffer.from(String(end)).toString("base64");

export function readCursor(text: string): number {
  const end = Buffer.from(text, "base64").toString();
  if (/^\d+$/.test(end)) return Number(end);
  throw new GraphQLError(`\`${text}\` does not appear to be a valid cursor.`, {
    extensions: { type: "INVALID_CURSOR_ARGUMENTS" },
  });
}
