/** What can be done with one resource: refresh, pause, resume, unfollow. */
import { useState } from "preact/hooks";
import type { Resource } from "./answers.ts";
import { post, resourcePath } from "./api.ts";
import { attempt } from "./saying.tsx";
import { counted } from "./words.ts";

const done_words = {
  refresh: "is due now.",
  pause: "is paused: it is not pulled until somebody resumes it.",
  resume: "goes on.",
};

export function Actions({ one, again }: { one: Resource; again: () => void }) {
  const [busy, setBusy] = useState(false);
  const act = async (work: () => Promise<unknown>) => {
    setBusy(true);
    await work();
    setBusy(false);
    again();
  };
  const change = (verb: keyof typeof done_words) =>
    act(() =>
      attempt(
        () => post(`${resourcePath(one)}/${verb}`),
        () => `${one.description ?? one.key} ${done_words[verb]}`,
      ),
    );
  const paused = one.status === "paused";
  return (
    <div class="actions">
      {!paused && (
        <button type="button" class="main" disabled={busy} onClick={() => change("refresh")}>
          Refresh
        </button>
      )}
      {(paused || one.status === "parked") && (
        <button type="button" class={paused ? "main" : ""} disabled={busy} onClick={() => change("resume")}>
          Resume
        </button>
      )}
      {!paused && one.status !== "gone" && (
        <button type="button" disabled={busy} onClick={() => change("pause")}>
          Pause
        </button>
      )}
      {one.followed_at !== null && <Unfollow one={one} act={act} />}
    </div>
  );
}

/** Asks once, because its records go with it. */
function Unfollow({ one, act }: { one: Resource; act: (work: () => Promise<unknown>) => Promise<void> }) {
  const [sure, setSure] = useState(false);
  if (!sure)
    return (
      <button type="button" onClick={() => setSure(true)}>
        Unfollow
      </button>
    );
  const { source, kind, key } = one;
  const unfollow = () =>
    act(async () => {
      await attempt(
        () => post<{ gone: number }>("/api/unfollow", { source, kind, key }),
        ({ gone }) => `${key} is no longer followed; ${counted(gone, "resource")} went with it.`,
      );
      setSure(false);
    });
  return (
    <fieldset class="sure" aria-label="Unfollow?">
      What nobody else brought forth goes, too.
      <button type="button" class="bad" ref={(button) => button?.focus()} onClick={unfollow}>
        Unfollow
      </button>
      <button type="button" onClick={() => setSure(false)}>
        Keep
      </button>
    </fieldset>
  );
}
