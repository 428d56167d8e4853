/** Which page is shown: read from the part of the address behind #, so that every page can be linked to. */
import { useEffect, useState } from "preact/hooks";

export interface Route {
  /** The segments of the path, decoded. */
  path: string[];
  query: URLSearchParams;
}

/** "#/sources/go-modules?status=due" as its parts. What cannot be decoded is taken as it is. */
export function readRoute(hash: string): Route {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  return { path: path.split("/").filter(Boolean).map(decoded), query: new URLSearchParams(query) };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export function routeTo(path: readonly string[], query: Record<string, string | null | undefined> = {}): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => !!entry[1]);
  const asked = given.length === 0 ? "" : `?${new URLSearchParams(given)}`;
  return `#/${path.map(encodeURIComponent).join("/")}${asked}`;
}

export const toSource = (source: string, query: Record<string, string | null | undefined> = {}): string =>
  routeTo(["sources", source], query);

export const toResource = ({ source, kind, key }: { source: string; kind: string; key: string }): string =>
  routeTo(["resources", source, kind, key]);

export function go(hash: string): void {
  location.hash = hash;
}

/** Another query on the same page; the page before is not kept, because one letter typed is no step to go back to. */
export function goQuietly(hash: string): void {
  history.replaceState(null, "", hash);
  dispatchEvent(new HashChangeEvent("hashchange"));
}

export function useRoute(): Route {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const changed = () => setHash(location.hash);
    addEventListener("hashchange", changed);
    // It may have changed between drawing and now.
    changed();
    return () => removeEventListener("hashchange", changed);
  }, []);
  return readRoute(hash);
}
