/** What one can make happen at the pretend upstreams, by a button or a command, and the story of what happened. */
import { gomod, pushOne } from "./acme.ts";
import type { MoodyGitHub } from "./moods.ts";

const DOWN_MS = 60_000;
const BUSY_MS = 30_000;
const STORY_MOST = 50;
/** So many repositories are never deleted, so that there is always something to see. */
const KEPT = 10;

export interface Action {
  title: string;
  says: string;
  /** Does it, and says what it did; `origin` is where this server itself is reached. */
  act(origin: string): string;
}

export class Stage {
  readonly #hub: MoodyGitHub;
  readonly #now_ms: () => number;
  /** Repositories that get pushes; deleted ones leave. */
  readonly #living: string[];
  readonly #story: { at: string; sentence: string }[] = [];
  readonly #actions: Record<string, Action>;
  #no = 0;

  /** `others` are what one can do elsewhere. */
  constructor(hub: MoodyGitHub, living: string[], now_ms: () => number, others: Record<string, Action> = {}) {
    this.#hub = hub;
    this.#now_ms = now_ms;
    this.#living = living;
    this.#actions = {
      "push-tag": {
        title: "Push a tag",
        says: "A new version of one module: it is in the feed after the next sweep.",
        act: () => this.#pushTag(),
      },
      "move-tag": {
        title: "Move a tag",
        says: "A published version changes behind one's back: it is listed as drift, and the feed keeps what it said.",
        act: () => this.#moveTag(),
      },
      "delete-repository": {
        title: "Delete a repository",
        says: "Nothing tells us: the next sweep finds it missing, and its versions are no longer available.",
        act: () => this.#deleteRepository(),
      },
      "take-down": {
        title: "Take GitHub down",
        says: "A minute of HTTP 502: the breaker opens after three different failures, and nobody is blamed for it.",
        act: () => this.#takeDown(),
      },
      "send-429": {
        title: "Send 429s",
        says: "Half a minute of “too many requests”: the first one closes the budget for every worker.",
        act: () => this.#send429(),
      },
      "bring-back": {
        title: "Bring GitHub back",
        says: "It is well again at once; what was closed opens when its time is over.",
        act: () => this.#bringBack(),
      },
      ...others,
    };
  }

  get actions(): { action: string; title: string; says: string }[] {
    return Object.entries(this.#actions).map(([action, { title, says }]) => ({ action, title, says }));
  }

  happened(): { at: string; sentence: string }[] {
    return [...this.#story];
  }

  act(action: string, origin = ""): string | null {
    if (!Object.hasOwn(this.#actions, action)) return null;
    const sentence = this.#actions[action]!.act(origin);
    this.#story.unshift({ at: new Date(this.#now_ms()).toISOString(), sentence });
    this.#story.splice(STORY_MOST);
    return sentence;
  }

  #next(): { name: string; no: number } {
    this.#no += 1;
    this.#hub.now_ms = this.#now_ms();
    return { name: this.#living[(this.#no * 7) % this.#living.length]!, no: this.#no };
  }

  #pushTag(): string {
    const { name, no } = this.#next();
    return `${pushOne(this.#hub, name, no)} was pushed.`;
  }

  #moveTag(): string {
    const { name, no } = this.#next();
    const tag = "v1.0.0";
    this.#hub.push(name, tag, { commit: `moved ${no}`, files: gomod(name) });
    return `${tag} of ${name} was moved to another commit.`;
  }

  #deleteRepository(): string {
    if (this.#living.length <= KEPT)
      return `No repository was deleted: the last ${KEPT} are kept to have something to see.`;
    const { name } = this.#next();
    this.#living.splice(this.#living.indexOf(name), 1);
    this.#hub.delete(name);
    return `${name} was deleted.`;
  }

  #takeDown(): string {
    this.#hub.be("down", this.#now_ms() + DOWN_MS);
    return `GitHub is down for ${DOWN_MS / 1000} s.`;
  }

  #send429(): string {
    this.#hub.be("busy", this.#now_ms() + BUSY_MS);
    return `GitHub answers 429 for ${BUSY_MS / 1000} s.`;
  }

  #bringBack(): string {
    this.#hub.be("well");
    return "GitHub is well.";
  }
}
