/** The pages that sources bring along: src/sources/NAME/page.tsx, each loaded when it is looked at. */
import type { ComponentType } from "preact";

/** What such a file has to export. */
export interface OwnPage {
  title: string;
  Page: ComponentType;
}

const found = import.meta.glob<OwnPage>("../sources/*/page.tsx");

/** By the name of the source, which is that of its folder. */
export const ownPages: Readonly<Record<string, () => Promise<OwnPage>>> = Object.fromEntries(
  Object.entries(found).map(([path, load]) => [path.split("/").at(-2)!, load]),
);
