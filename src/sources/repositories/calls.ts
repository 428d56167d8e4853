/** The calls to git servers: each through the upstream of its host, so that budgets, breakers and the guard see it. */
import type { Answer, FetchRequest, Pull } from "tidemark";
import { asked, type Head, headQuestion, packOf, packQuestion, readHead, type Wanted } from "./git-protocol.ts";
import { movedTo, partsOf, type RepositoryName } from "./names.ts";
import type { RepositoryParts } from "./parts.ts";
import { broken } from "./pkt-line.ts";

/** These are answers about the repository, not about us: hosts ask for a password where there is none or it is private. */
const ANSWERS = [401, 404, 410, 451];
const PACK_MS_MAX = 5 * 60_000;

export type Seen =
  | { is: "there"; head: Head | null }
  | { is: "moved"; to: RepositoryName }
  | { is: "hidden"; status: number; reason: string };

export class GitCalls {
  readonly #parts: RepositoryParts;
  readonly #pull: Pull<unknown>;
  readonly #name: RepositoryName;

  constructor(parts: RepositoryParts, pull: Pull<unknown>) {
    this.#parts = parts;
    this.#pull = pull;
    this.#name = partsOf(pull.resource.key);
  }

  #ask(body: string, more: FetchRequest = {}): Promise<Answer> {
    const { host, owner, name } = this.#name;
    const reached_at = this.#parts.settings().reached_at?.get(host);
    return this.#pull.fetch(`https://${host}/${owner}/${name}.git/git-upload-pack`, {
      method: "POST",
      headers: asked,
      body,
      answers: ANSWERS,
      redirects: "none",
      ...(reached_at === undefined ? {} : { reached_at }),
      ...more,
    });
  }

  /** Where HEAD is now: one small call. */
  async see(): Promise<Seen> {
    const answer = await this.#ask(headQuestion());
    const { status, headers } = answer;
    if (status >= 300 && status < 400) {
      const to = movedTo(headers.location ?? "", this.#name);
      if (to) return { is: "moved", to };
      throw broken("leads somewhere that is not a repository of the same host");
    }
    if (status === 451) return { is: "hidden", status, reason: "it is not shown there for legal reasons" };
    if (status !== 200) return { is: "hidden", status, reason: reasonOf(status) };
    return { is: "there", head: await readHead(answer.bytes) };
  }

  /** Saves a pack into a new file. */
  async save(wanted: Wanted, file: string, bytes_max: number): Promise<void> {
    const answer = await this.#ask(packQuestion(wanted), { save_to: file, bytes_max, timeout_ms: PACK_MS_MAX });
    if (answer.status !== 200) throw broken(`about its objects has status ${answer.status}`);
  }

  /** Whether the server still has a commit. */
  async has(oid: string): Promise<boolean> {
    const answer = await this.#ask(packQuestion({ oid, filter: "tree:0", depth: 1 }));
    if (answer.status !== 200) return false;
    try {
      for await (const part of packOf(once(answer.bytes), () => undefined)) if (part.length > 0) return true;
    } catch {
      return false;
    }
    return false;
  }
}

const reasonOf = (status: number): string =>
  status === 410 ? "it was taken away there" : "it is not there, or not for everyone";

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
