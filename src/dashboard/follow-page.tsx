/** Follow something: which source, and what a person would type for it. */
import { useRef, useState } from "preact/hooks";
import type { Named } from "./answers.ts";
import { post } from "./api.ts";
import { live } from "./live.ts";
import { go, toResource } from "./route.ts";
import { attempt } from "./saying.tsx";
import { useOwnPage } from "./source-pages.ts";
import { useStore } from "./store.ts";

export function FollowPage({ source }: { source: string | null }) {
  const { status } = useStore(live);
  const names = status?.sources.map((one) => one.source) ?? [];
  const [busy, setBusy] = useState(false);
  const [wrong, setWrong] = useState(false);
  const [picked, setPicked] = useState(source);
  const chosen = picked ?? names[0] ?? "";
  const own = useOwnPage(chosen);
  const typed = useRef<HTMLInputElement>(null);
  const submit = async (event: Event) => {
    event.preventDefault();
    const key = typed.current?.value.trim() ?? "";
    if (key === "") return typed.current?.focus();
    setBusy(true);
    const named = await attempt(
      () => post<Named>("/api/follow", { source: chosen, key }),
      (done) => `${done.key} is followed, and is pulled as soon as a worker is free.`,
    );
    setBusy(false);
    setWrong(named === null);
    if (named) go(toResource(named));
    else typed.current?.focus();
    return undefined;
  };
  return (
    <>
      <h1>Follow</h1>
      <p>What is followed is mirrored at once, and kept fresh from then on, until it is unfollowed.</p>
      <form class="follow-form" onSubmit={submit}>
        <label>
          Source
          <select value={chosen} onChange={(event) => setPicked(event.currentTarget.value)}>
            {names.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
        <label>
          Key
          <input
            ref={typed}
            type="text"
            required
            maxLength={1024}
            autocomplete="off"
            spellcheck={false}
            placeholder={own?.example === undefined ? "" : `such as ${own.example}`}
            aria-invalid={wrong}
          />
        </label>
        <button type="submit" class="main" disabled={busy || names.length === 0}>
          Follow
        </button>
      </form>
      <p class="faint">
        From a terminal: <code>tidemark follow SOURCE KEY</code>
      </p>
    </>
  );
}
