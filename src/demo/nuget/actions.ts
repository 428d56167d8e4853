/** What one can make happen at the pretend NuGet feed of the demo. */
import type { Action } from "../actions.ts";
import { ids, versionOf } from "./contoso.ts";
import type { NuGetFeed } from "./feed.ts";

const ID = "Contoso.Json";

/** `now_ms` is the time of day: what happens now is stamped now. */
export function nugetActions(feed: NuGetFeed, now_ms: () => number): Record<string, Action> {
  let no = 0;
  const next = () => {
    no += 1;
    return no;
  };
  const stamp = () => `${new Date(now_ms()).toISOString().slice(0, 23)}${String(next()).padStart(4, "0").slice(-4)}Z`;
  const listing = (listed: boolean) => {
    feed.commit([versionOf(ID, "1.1.0", { listed, ...(listed ? {} : { published: "1900-01-01T00:00:00Z" }) })], {
      stamp: stamp(),
    });
    return `${ID} 1.1.0 is ${listed ? "listed again" : "no longer listed"}.`;
  };
  let deleted = false;
  return {
    "publish-package": {
      title: "Publish a package",
      says: "A new version of one package: it is in search, registration and flat container after the next look at the catalog.",
      act: () => {
        const id = ids()[next() % ids().length]!;
        const version = `3.0.${no}`;
        feed.commit([versionOf(id, version)], { stamp: stamp() });
        return `${id} ${version} was published.`;
      },
    },
    "unlist-package": {
      title: "Unlist a version",
      says: "It leaves search and stays restorable.",
      act: () => listing(false),
    },
    "relist-package": {
      title: "List it again",
      says: "The later of two events counts, in whatever order they are handled.",
      act: () => listing(true),
    },
    "delete-package": {
      title: "Delete a version, or push it again",
      says: "A deletion names the version as its author once wrote it; pushed again, it is back.",
      act: () => {
        deleted = !deleted;
        feed.commit([deleted ? { id: ID.toUpperCase(), version: "1.2.0.0", deletes: true } : versionOf(ID, "1.2.0")], {
          stamp: stamp(),
        });
        return `${ID} 1.2.0 was ${deleted ? "deleted" : "pushed again"}.`;
      },
    },
    "split-commit": {
      title: "Split a commit over two pages",
      says: "The public cursor passes it when both halves were handled, and not before.",
      act: () => {
        const version = `4.0.${next()}`;
        feed.commit([versionOf(ID, version), versionOf("Contoso.Http", version)], { stamp: stamp(), split: 1 });
        return `${version} of two packages came in one commit on two pages.`;
      },
    },
    "poison-leaf": {
      title: "Publish a version whose leaf is missing",
      says: "Tried again and again, then parked; the cursor says what it passed over, and no other package waits.",
      act: () => {
        const version = `9.9.${next()}`;
        const written = stamp();
        feed.commit([versionOf("Contoso.Crash.Reports", version)], { stamp: written });
        const item = feed.pages.at(-1)!.items.at(-1)!;
        feed.instead.set(item.path, () => ({ status: 404, headers: {}, body: "" }));
        return `Contoso.Crash.Reports ${version} was published without its leaf.`;
      },
    },
  };
}
