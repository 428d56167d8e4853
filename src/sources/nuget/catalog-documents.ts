/** The documents of a catalog as they come: its index, its pages and the items on them, each checked by itself. */
import { z } from "zod";
import { ID_MOST, lowerId } from "./package-id.ts";
import { ticksOf } from "./stamp.ts";

const stamp = z.string().refine((text) => ticksOf(text) !== null, { message: "is not a timestamp" });

export const ServiceIndex = z.looseObject({
  resources: z.array(z.looseObject({ "@id": z.string(), "@type": z.union([z.string(), z.array(z.string())]) })),
});
export type ServiceIndex = z.infer<typeof ServiceIndex>;

/** Where a part of the feed is; addresses may be relative to the service index. */
export function partOf({ resources }: ServiceIndex, url: string, type: string): string | null {
  const part = resources.find((one) => [one["@type"]].flat().includes(type));
  return part && URL.canParse(part["@id"], url) ? new URL(part["@id"], url).href : null;
}

export const CatalogIndex = z.looseObject({
  commitTimeStamp: stamp,
  items: z.array(z.looseObject({ "@id": z.string(), commitTimeStamp: stamp, count: z.number().catch(-1) })),
});
export type CatalogIndex = z.infer<typeof CatalogIndex>;

export const CatalogPage = z.looseObject({
  commitTimeStamp: stamp,
  commitId: z.unknown(),
  count: z.unknown(),
  items: z.array(z.unknown()),
});
export type CatalogPage = z.infer<typeof CatalogPage>;

const Item = z.looseObject({
  "@id": z.string().min(1),
  "@type": z.union([z.string(), z.array(z.string())]),
  commitTimeStamp: stamp,
  "nuget:id": z.string().min(1),
  "nuget:version": z.string().min(1),
});

/** One event: a version in the state that its leaf has, or its end. */
export interface Item {
  leaf: string;
  stamp: string;
  ticks: bigint;
  /** The earliest event of this version that it stands for: the public cursor must not pass that before this one is handled. */
  from: bigint;
  id: string;
  lower_id: string;
  version: string;
  deletes: boolean;
}

/** An item, or what is odd about it. */
export function readItem(given: unknown, page_url: string): Item | string {
  const parsed = Item.safeParse(given);
  if (!parsed.success) return "an item that cannot be read";
  const { "@id": leaf, commitTimeStamp, "nuget:id": id, "nuget:version": version } = parsed.data;
  const types = [parsed.data["@type"]].flat().map((type) => type.replace(/^nuget:/, ""));
  const deletes = types.includes("PackageDelete");
  if (!deletes && !types.includes("PackageDetails")) return "an item of a type that nobody knows";
  if ([...id].length > ID_MOST || !URL.canParse(leaf, page_url)) return "an item that cannot be read";
  const ticks = ticksOf(commitTimeStamp)!;
  return {
    leaf: new URL(leaf, page_url).href,
    stamp: commitTimeStamp,
    ticks,
    from: ticks,
    id,
    lower_id: lowerId(id),
    version,
    deletes,
  };
}

/** By time, as the catalog means it and hardly ever writes it; the same time by address, so that it is one order for everybody. */
export function inOrder<T extends { ticks: bigint; leaf: string }>(items: T[]): T[] {
  return items.toSorted((a, b) =>
    a.ticks < b.ticks ? -1 : a.ticks > b.ticks ? 1 : a.leaf < b.leaf ? -1 : a.leaf > b.leaf ? 1 : 0,
  );
}
