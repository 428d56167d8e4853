/** The pages that sources bring along: src/sources/NAME/page.tsx, each loaded when it is looked at. */
import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";

/** What such a file has to export. */
export interface OwnPage {
  title: string;
  /** What one could follow there. */
  example?: string;
  Page: ComponentType;
}

const found = import.meta.glob<OwnPage>("../sources/*/page.tsx");

/** By the name of the source, which is that of its folder. */
const ownPages: Readonly<Record<string, () => Promise<OwnPage>>> = Object.fromEntries(
  Object.entries(found).map(([path, load]) => [path.split("/").at(-2)!, load]),
);

/** The page that comes with the source, once it is loaded; null where there is none. */
export function useOwnPage(source: string): OwnPage | null {
  const [own, setOwn] = useState<{ source: string; page: OwnPage } | null>(null);
  useEffect(() => {
    // Where it cannot be loaded, the resources are there still.
    void ownPages[source]?.().then(
      (page) => setOwn({ source, page }),
      () => undefined,
    );
  }, [source]);
  return own?.source === source ? own.page : null;
}
