/** A pretend GitHub that can have a bad day: it is down for a while, or answers only that it has had enough. */
import { type Call, GitHub, type Reply } from "./github/hub.ts";

type Mood = "well" | "down" | "busy";

/** What an answer of 429 asks for. */
const RETRY_AFTER_S = 10;

export class MoodyGitHub extends GitHub {
  #mood: Mood = "well";
  #until_ms = 0;

  /** Has the mood until then; the time of calls counts. */
  be(mood: Mood, until_ms = 0): void {
    this.#mood = mood;
    this.#until_ms = until_ms;
  }

  override async answer(call: Call): Promise<Reply> {
    const mood = call.at_ms < this.#until_ms ? this.#mood : "well";
    if (mood === "down") return { status: 502, headers: {}, body: { message: "Bad Gateway" } };
    if (mood === "busy")
      return {
        status: 429,
        headers: { "retry-after": String(RETRY_AFTER_S) },
        body: { message: "Too many requests" },
      };
    return super.answer(call);
  }
}
