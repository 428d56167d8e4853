/** What was just done, or why it was not: said at the foot of the page, and to screen readers. */
import { realClock } from "../clock.ts";
import { asFailure } from "./api.ts";
import { Store, useStore } from "./store.ts";
import { keepToken, readToken } from "./token.ts";
import { askForToken } from "./token-dialog.tsx";

const SAID_MS = 8_000;

interface Said {
  sentence: string;
  bad: boolean;
  no: number;
}

const said = new Store<Said>({ sentence: "", bad: false, no: 0 });

export function say(sentence: string, bad = false): void {
  const no = said.value.no + 1;
  said.set({ sentence, bad, no });
  // Good news goes by itself; bad news stays until the next.
  if (!bad)
    void realClock.sleep(SAID_MS).then(() => {
      if (said.value.no === no) said.set({ sentence: "", bad: false, no });
    });
}

/**
 * Does something and says how it went; null when it failed. Where the server wants a token, somebody is asked for one, and it is
 * done again.
 */
export async function attempt<T>(work: () => Promise<T>, done: (value: T) => string): Promise<T | null> {
  const before = readToken();
  for (;;) {
    try {
      const value = await work();
      say(done(value));
      return value;
    } catch (thrown) {
      const failure = asFailure(thrown);
      if (failure.status === 401 && (await askForToken(failure.message))) continue;
      // One that was not enough must not take the place of one that reads.
      if (failure.status === 401) keepToken(before);
      say(failure.message, true);
      return null;
    }
  }
}

export function Saying() {
  const { sentence, bad } = useStore(said);
  return (
    <div class="saying" role="status" aria-live="polite">
      {sentence && (
        <p class={bad ? "bad" : ""}>
          {sentence}
          <button type="button" class="quiet" onClick={() => said.set({ sentence: "", bad: false, no: said.value.no })}>
            Close
          </button>
        </p>
      )}
    </div>
  );
}
