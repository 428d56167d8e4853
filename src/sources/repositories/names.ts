/** What a repository is called: a host, an owner and a name, in one spelling. */

export interface RepositoryName {
  host: string;
  owner: string;
  name: string;
}

const HOST =
  /^(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*(?::\d{1,5})?$/;
const PART = /^(?!\.{1,2}$)[A-Za-z0-9_.-]{1,100}$/;

/** "github.com/owner/name", an address, or "owner/name" of github.com; a sentence where it is none of them. */
export function readName(text: string): RepositoryName | string {
  const plain = text
    .trim()
    .replace(/^https?:\/\//i, "")
    .replace(/[?#].*$/, "")
    .replace(/\/+$/, "");
  const parts = plain.split("/");
  const [host, owner, name] = parts.length === 2 ? ["github.com", ...parts] : parts;
  if (/^(git|ssh|file|ext|ftp):|^git@/i.test(text.trim()))
    return `Repositories are read over https alone. Write "${text.trim().slice(0, 200)}" as host/owner/name.`;
  if (parts.length > 3)
    return `"${text.slice(0, 200)}" has more than an owner and a name. Repositories in groups within groups are not read.`;
  if (host === undefined || owner === undefined || name === undefined)
    return `"${text.slice(0, 200)}" is not a repository such as github.com/owner/name.`;
  return nameOf(host, owner, name) ?? `"${text.slice(0, 200)}" is not a repository such as github.com/owner/name.`;
}

/** Null where a part cannot be one. Case is kept in owner and name, because some hosts tell it apart. */
export function nameOf(host: string, owner: string, name: string): RepositoryName | null {
  const plain = name.replace(/\.git$/i, "");
  const lower = host.toLowerCase();
  if (!HOST.test(lower) || !PART.test(owner) || !PART.test(plain)) return null;
  const fold = folding.has(lower);
  return { host: lower, owner: fold ? owner.toLowerCase() : owner, name: fold ? plain.toLowerCase() : plain };
}

/** Hosts where case makes no difference: there one repository has one key. */
const folding = new Set(["github.com", "gitlab.com", "bitbucket.org", "codeberg.org", "gitea.com"]);

export const keyOf = ({ host, owner, name }: RepositoryName): string => `${host}/${owner}/${name}`;

/** Of a key that `keyOf` made. */
export function partsOf(key: string): RepositoryName {
  const [host = "", owner = "", name = ""] = key.split("/");
  return { host, owner, name };
}

/** Where a redirect leads; null where that is not a repository of the same host. */
export function movedTo(location: string, from: RepositoryName): RepositoryName | null {
  const base = `https://${from.host}/`;
  if (!URL.canParse(location, base)) return null;
  const { host, pathname } = new URL(location, base);
  const [owner = "", name = ""] = pathname
    .replace(/\/(info\/refs|git-upload-pack)$/, "")
    .split("/")
    .slice(1);
  if (host.toLowerCase() !== from.host) return null;
  const to = nameOf(from.host, decodeURIComponent(owner), decodeURIComponent(name));
  return to && keyOf(to) !== keyOf(from) ? to : null;
}
