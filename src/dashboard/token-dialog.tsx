/** Asks for the token that the server wants to see. */
import { useEffect, useRef } from "preact/hooks";
import { Store, useStore } from "./store.ts";
import { keepToken, readToken } from "./token.ts";

interface Asking {
  sentence: string;
  answer(given: boolean): void;
}

const asking = new Store<Asking | null>(null);

/** Whether somebody gave one; it is kept for this tab. */
export function askForToken(sentence: string): Promise<boolean> {
  asking.value?.answer(false);
  return new Promise((resolve) => {
    asking.set({
      sentence,
      answer: (given) => {
        asking.set(null);
        resolve(given);
      },
    });
  });
}

interface TokenFormProps {
  sentence: string;
  given: () => void;
  cancel?: () => void;
}

export function TokenForm({ sentence, given, cancel }: TokenFormProps) {
  const input = useRef<HTMLInputElement>(null);
  // One was shown with what was refused.
  const refused = readToken() !== null;
  const submit = (event: Event) => {
    event.preventDefault();
    const token = input.current?.value.trim() ?? "";
    if (token === "") return input.current?.focus();
    keepToken(token);
    given();
    return undefined;
  };
  return (
    <form class="token" onSubmit={submit}>
      <p>{sentence}</p>
      {refused && <p class="bad">The token that this tab has is not enough for that.</p>}
      <label>
        Token
        <input ref={input} type="password" autocomplete="off" spellcheck={false} required />
      </label>
      <p class="faint">It is kept in this tab alone, until you close it.</p>
      <button type="submit" class="main">
        Go on
      </button>
      {cancel && (
        <button type="button" onClick={cancel}>
          Cancel
        </button>
      )}
    </form>
  );
}

export function TokenDialog() {
  const asked = useStore(asking);
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (asked && !dialog.current?.open) dialog.current?.showModal();
  }, [asked]);
  if (!asked) return null;
  return (
    <dialog ref={dialog} aria-label="A token is needed" onClose={() => asked.answer(false)}>
      <h2>A token is needed</h2>
      <TokenForm sentence={asked.sentence} given={() => asked.answer(true)} cancel={() => asked.answer(false)} />
    </dialog>
  );
}
