/** What people type and what keys are: "acme/x" at github.com, "ghe.corp.example/acme/x" elsewhere. */
import { type GitHubRepository, readGitHubName } from "tidemark";

const GITHUB = "github.com";

/** As it is typed or as it is kept; null where it names no repository. */
export function readRepositoryName(text: string): GitHubRepository | null {
  const plain = text.trim().replace(/^https?:\/\//i, "");
  const parts = plain.replace(/\/+$/, "").split("/");
  const name = readGitHubName(parts.length === 2 ? `${GITHUB}/${plain}` : plain.replace(/\/issues(\/.*)?$/, ""));
  return name && "name" in name ? name : null;
}

export const keyOf = ({ host, owner, name }: GitHubRepository): string =>
  host === GITHUB ? `${owner}/${name}` : `${host}/${owner}/${name}`;

/** Of a key that `keyOf` made. */
export function readKey(key: string): GitHubRepository {
  const [name = "", owner = "", host = GITHUB] = key.split("/").reverse();
  return { host, owner, name };
}
