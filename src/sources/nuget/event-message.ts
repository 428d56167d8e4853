/** What a catalog posts to a package: one event of one version, small, because millions of them may wait. */
import { z } from "zod";
import { keyOf } from "./leaf.ts";

export const Message = z.object({
  leaf: z.string(),
  stamp: z.string(),
  id: z.string(),
  version: z.string(),
  deletes: z.boolean().optional(),
  /** Read once more, although it was before. */
  again: z.boolean().optional(),
  /** It came after something newer. */
  late: z.boolean().optional(),
});
export type Message = z.infer<typeof Message>;

/** Of the events of a version that wait, the latest counts; one that came late or is replayed must not take its place. */
export const coalesceKey = ({ version, stamp, late, again }: Message): string =>
  late || again ? `${keyOf(version)} ${stamp}` : keyOf(version);

/** "api.nuget.org/12/newtonsoft.json": the feed's host and number, and the id in lower case. */
export const packageKey = (host: string, feed_id: bigint, lower_id: string): string => `${host}/${feed_id}/${lower_id}`;

export function partsOf(key: string): { host: string; feed_id: bigint; lower_id: string } {
  const [, host = "", feed = "0", lower_id = ""] = /^([^/]*)\/(\d+)\/(.*)$/s.exec(key) ?? [];
  return { host, feed_id: BigInt(feed), lower_id };
}
