/** What people type to name an owner or a repository at GitHub or at an Enterprise Server. */

export interface GitHubOwner {
  host: string;
  owner: string;
}

export interface GitHubRepository extends GitHubOwner {
  name: string;
}

const HOST = /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)+$/;
const OWNER = /^[a-z0-9][a-z0-9_-]{0,99}$/;
const NAME = /^[a-z0-9._-]{1,100}$/;

/** "github.com/acme", "https://ghe.corp.example/acme/x.git", …; in small letters, as GitHub does not tell them apart. */
export function readGitHubName(text: string): GitHubOwner | GitHubRepository | null {
  const plain = text
    .toLowerCase()
    .replace(/^https?:\/\//, "")
    .replace(/\/+$/, "")
    .replace(/\.git$/, "");
  const [host = "", owner = "", name, ...rest] = plain.split("/");
  if (!HOST.test(host) || !OWNER.test(owner) || rest.length > 0) return null;
  if (name === undefined) return { host, owner };
  return NAME.test(name) && !/^\.+$/.test(name) ? { host, owner, name } : null;
}
