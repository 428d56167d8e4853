/** What the pretend GitHub holds: accounts with tokens, owners, repositories with tags and files; all changed by hand. */
import { createHash } from "node:crypto";
import { type Issue, IssueShelf } from "./issues.ts";

/** What a tag can point at. An annotated tag is an object of its own, which may point at another one. */
export type GitObject =
  | { type: "Commit"; oid: string; date_ms: number; files: Readonly<Record<string, string | null>> }
  | { type: "Tag"; oid: string; name: string; date_ms: number; target: GitObject };

export interface Flags {
  isFork: boolean;
  isArchived: boolean;
  isDisabled: boolean;
  isPrivate: boolean;
  hasIssues: boolean;
}

export interface Repository extends Flags {
  id: string;
  /** The order of creation, which listings keep to. */
  no: number;
  owner: string;
  name: string;
  /** What its files are written in. */
  languages: string[];
  pushed_ms: number;
  head: GitObject | null;
  tags: Map<string, GitObject>;
  objects: Map<string, GitObject>;
  /** Grows with each change of tags, so that sorted lists can be kept. */
  revision: number;
  shelf: IssueShelf;
}

export interface Owner {
  id: string;
  login: string;
  type: "Organization" | "User";
  repositories: Map<string, Repository>;
}

export interface Push {
  /** The name of the commit, so that two tags can be on one; the tag's unless said. */
  commit?: string;
  /** What the commit holds, as text by path; null is a file that is not text. */
  files?: Record<string, string | null>;
  /** How many annotated tags stand between the name and the commit: 0 for a lightweight tag. */
  annotated?: number;
  /** When the commit was made, in milliseconds; the time of the push unless said. */
  date_ms?: number;
}

const BEGINNING_MS = Date.UTC(2029, 0);

const sha = (text: string): string => createHash("sha1").update(text).digest("hex");

/** Names are alike whatever their case, as on GitHub. */
const folded = (name: string): string => name.toLowerCase();

export class World {
  readonly owners = new Map<string, Owner>();
  /** Tokens, and who each belongs to. */
  readonly tokens = new Map<string, string>();
  /** Who may see the private repositories of whom. */
  readonly #members = new Map<string, Set<string>>();
  readonly #byId = new Map<string, Repository>();
  readonly #issues = new Map<string, { shelf: IssueShelf; issue: Issue }>();
  /** Names that repositories had before, which lead to them still. */
  readonly #former = new Map<string, string>();
  #count = 0;
  /** The time of what is done by hand. */
  now_ms = BEGINNING_MS;

  /** An account with a token; it sees the private repositories of the owners that it is a member of. */
  account(login: string, { token = `token-of-${login}`, member = [] as string[] } = {}): string {
    this.tokens.set(token, login);
    const members = this.#members.get(folded(login)) ?? new Set([folded(login)]);
    for (const owner of member) members.add(folded(owner));
    this.#members.set(folded(login), members);
    return token;
  }

  revoke(token: string): void {
    this.tokens.delete(token);
  }

  owner(login: string, type: Owner["type"] = "Organization"): Owner {
    const known = this.owners.get(folded(login));
    if (known) return known;
    const id = `${type === "User" ? "U" : "O"}_${sha(login).slice(0, 10)}`;
    const made: Owner = { id, login, type, repositories: new Map() };
    this.owners.set(folded(login), made);
    return made;
  }

  /** Makes a repository, "acme/x", with its owner. */
  repository(fullName: string, flags: Partial<Flags> = {}): Repository {
    const [login = "", name = ""] = fullName.split("/");
    const owner = this.owner(login);
    const no = ++this.#count;
    const made: Repository = {
      id: `R_kgDO${String(no).padStart(8, "0")}`,
      no,
      owner: owner.login,
      name,
      isFork: false,
      isArchived: false,
      isDisabled: false,
      isPrivate: false,
      hasIssues: true,
      ...flags,
      languages: ["Go"],
      pushed_ms: this.now_ms,
      head: null,
      tags: new Map(),
      objects: new Map(),
      revision: 0,
      shelf: new IssueShelf(`R_kgDO${String(no).padStart(8, "0")}`, () => this.now_ms, this.#issues),
    };
    owner.repositories.set(folded(name), made);
    this.#byId.set(made.id, made);
    return made;
  }

  /** By its name of now or of before, "acme/x". */
  find(fullName: string): Repository | null {
    const [login = "", name = ""] = fullName.split("/");
    const now = this.owners.get(folded(login))?.repositories.get(folded(name));
    const before = this.#former.get(folded(fullName));
    return now ?? (before === undefined ? null : this.byId(before));
  }

  byId(id: string): Repository | null {
    return this.#byId.get(id) ?? null;
  }

  issueById(id: string): { shelf: IssueShelf; issue: Issue } | null {
    return this.#issues.get(id) ?? null;
  }

  /** The issues of a repository, to be changed. */
  issues(fullName: string): IssueShelf {
    return this.#at(fullName).shelf;
  }

  sees(login: string | null, { isPrivate, owner }: Repository): boolean {
    return !isPrivate || (login !== null && (this.#members.get(folded(login))?.has(folded(owner)) ?? false));
  }

  /** Pushes a tag, and with it a commit; a tag that is there moves. Returns the commit's oid. */
  push(fullName: string, tag: string, { commit = tag, files, annotated = 0, date_ms }: Push = {}): string {
    const repository = this.#at(fullName);
    const made = this.#commit(repository, commit, files, date_ms);
    let target: GitObject = made;
    for (let depth = 0; depth < annotated; depth += 1) {
      const oid = sha(`tag ${repository.id} ${tag} ${target.oid}`);
      target = { type: "Tag", oid, name: tag, date_ms: this.now_ms, target };
      repository.objects.set(oid, target);
    }
    repository.tags.set(tag, target);
    this.#changed(repository);
    return made.oid;
  }

  /** Pushes to the default branch, and leaves the tags alone. */
  pushHead(fullName: string, commit: string, files?: Push["files"]): string {
    const repository = this.#at(fullName);
    repository.head = this.#commit(repository, commit, files);
    repository.pushed_ms = this.now_ms;
    return repository.head.oid;
  }

  untag(fullName: string, tag: string): void {
    const repository = this.#at(fullName);
    repository.tags.delete(tag);
    this.#changed(repository);
  }

  set(fullName: string, flags: Partial<Flags>): void {
    Object.assign(this.#at(fullName), flags);
  }

  /** Renames or transfers: the id stays, and the old name leads to the new place. */
  move(fullName: string, newFullName: string): void {
    const repository = this.#at(fullName);
    const [login = "", name = ""] = newFullName.split("/");
    this.owners.get(folded(repository.owner))?.repositories.delete(folded(repository.name));
    this.#former.set(folded(fullName), repository.id);
    this.#former.delete(folded(newFullName));
    repository.owner = this.owner(login).login;
    repository.name = name;
    this.owner(login).repositories.set(folded(name), repository);
  }

  delete(fullName: string): void {
    const repository = this.#at(fullName);
    this.owners.get(folded(repository.owner))?.repositories.delete(folded(repository.name));
    this.#byId.delete(repository.id);
  }

  #at(fullName: string): Repository {
    const found = this.find(fullName);
    if (!found) throw new Error(`The pretend GitHub has no repository ${fullName}.`);
    return found;
  }

  #commit(repository: Repository, name: string, files: Push["files"], date_ms = this.now_ms): GitObject {
    const oid = sha(`commit ${repository.id} ${name}`);
    const known = repository.objects.get(oid);
    if (known && files === undefined) return known;
    const made: GitObject = { type: "Commit", oid, date_ms, files: files ?? {} };
    repository.objects.set(oid, made);
    repository.head ??= made;
    return made;
  }

  #changed(repository: Repository): void {
    repository.revision += 1;
    repository.pushed_ms = this.now_ms;
  }
}

/** The commit that a tag comes to in the end. */
export function peeled(object: GitObject): Extract<GitObject, { type: "Commit" }> {
  return object.type === "Commit" ? object : peeled(object.target);
}
