/** The small parts that every page is made of: moments, states, notices, and what stands there before there is anything. */
import type { ComponentChildren } from "preact";
import type { Failure } from "./api.ts";
import { useNow_ms } from "./ticking.ts";
import { distance, moment } from "./words.ts";

/** How far a moment is from now; the moment itself where the pointer rests. */
export function When({ at, never = "–" }: { at: string | null; never?: string }) {
  const now_ms = useNow_ms();
  if (at === null) return <>{never}</>;
  return (
    <time dateTime={at} title={moment(at)}>
      {now_ms === null ? moment(at) : distance(at, now_ms)}
    </time>
  );
}

/** One word of state with its colour; the colour alone says nothing. */
export function State({ is, children }: { is: string; children?: ComponentChildren }) {
  return <span class={`state ${is}`}>{children ?? is}</span>;
}

/** Something that wants to be read: `bad` where somebody may have to act. */
export function Notice({ bad, children }: { bad?: boolean; children: ComponentChildren }) {
  return <div class={bad ? "notice bad" : "notice"}>{children}</div>;
}

export function Loading({ what }: { what: string }) {
  return (
    <p class="empty" aria-busy="true">
      Reading {what} …
    </p>
  );
}

/** What could not be read, beside what was read before or in its place. */
export function Failed({ failure, again }: { failure: Failure; again?: () => void }) {
  return (
    <div class="notice bad" role="alert">
      <p>{failure.message}</p>
      {again && (
        <button type="button" onClick={again}>
          Read again
        </button>
      )}
    </div>
  );
}

/** A part of a page under its own heading. */
export function Part({
  title,
  aside,
  children,
}: {
  title: string;
  aside?: ComponentChildren;
  children: ComponentChildren;
}) {
  return (
    <section class="part">
      <header>
        <h2>{title}</h2>
        {aside && <div class="aside">{aside}</div>}
      </header>
      {children}
    </section>
  );
}

/** A bar that is filled so far, for eyes; its number stands beside it. */
export function Bar({ percent, is = "fresh" }: { percent: number; is?: string }) {
  return (
    <svg class={`bar ${is}`} viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
      <rect class="ground" width="100" height="4" />
      <rect class="fill" width={Math.max(0, Math.min(100, percent))} height="4" />
    </svg>
  );
}
