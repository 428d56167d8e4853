/** One resource: what happens next and why, what went wrong, what can be done, and what happened before. */

import { adviceOn } from "./advice.ts";
import type { Resource } from "./answers.ts";
import { resourcePath } from "./api.ts";
import { useReading } from "./reading.ts";
import { Actions } from "./resource-actions.tsx";
import { Mailbox, Pulls, Tidemark } from "./resource-history.tsx";
import { routeTo, toResource, toSource } from "./route.ts";
import { Bar, Failed, Loading, Part, State, When } from "./small.tsx";
import { counted, figure, progress, readable, span } from "./words.ts";

interface ResourcePageProps {
  source: string;
  kind: string;
  name: string;
}

export function ResourcePage({ source, kind, name }: ResourcePageProps) {
  const { value, failure, again } = useReading<Resource>(resourcePath({ source, kind, key: name }));
  return (
    <>
      <nav class="trail" aria-label="Where this is">
        <a href={toSource(source)}>{source}</a> / <a href={toSource(source, { kind })}>{kind}</a>
      </nav>
      <h1 class="key">{value?.description ?? name}</h1>
      {failure && <Failed failure={failure} again={again} />}
      {failure?.status === 404 && (
        <p>
          It may have been purged, or never was followed. <a href={routeTo(["follow"], { source })}>Follow it</a>, or
          look at <a href={toSource(source)}>what is there</a>.
        </p>
      )}
      {value === null ? !failure && <Loading what="the resource" /> : <Whole one={value} again={again} />}
    </>
  );
}

function Whole({ one, again }: { one: Resource; again: () => void }) {
  return (
    <>
      <Next one={one} />
      <Actions one={one} again={again} />
      <Trouble one={one} />
      <Facts one={one} />
      <Mailbox one={one} again={again} />
      <Tidemark one={one} />
      <Pulls pulls={one.pulls} />
      <Part title="Cursor and options">
        <dl class="facts-list">
          <dt>cursor</dt>
          <dd>{one.cursor === null ? "at the beginning" : <pre>{JSON.stringify(one.cursor, null, 2)}</pre>}</dd>
          <dt>options</dt>
          <dd>{one.options === null ? "none" : <pre>{JSON.stringify(one.options, null, 2)}</pre>}</dd>
        </dl>
      </Part>
    </>
  );
}

/** Its state, what comes next and why, in one line. */
function Next({ one }: { one: Resource }) {
  return (
    <p class="next">
      <State is={one.status} />
      <span class="faint"> · </span>
      {one.next.due_at !== null && (
        <>
          next pull <When at={one.next.due_at} />:{" "}
        </>
      )}
      {readable(one.next.why).replace(/\.$/, "")}.
      {one.line.place !== null &&
        ` Place ${figure(one.line.place)} in line${one.line.eta_ms === null ? "" : `, done in about ${span(one.line.eta_ms)}`}.`}
    </p>
  );
}

/** What went wrong last, and what there is to do about it. */
function Trouble({ one }: { one: Resource }) {
  if (one.failures === 0 && one.error === null) return null;
  const code = one.error?.code ?? "Unexpected";
  return (
    <section class="notice bad" aria-label="What went wrong">
      <p>
        <b>{code}</b>
        {one.failures > 0 && ` after ${counted(one.failures, "failure")}`}:{" "}
        {readable(one.error?.sentence ?? one.reason ?? "no sentence was given")}
      </p>
      <p>{adviceOn(code)}</p>
    </section>
  );
}

function Facts({ one }: { one: Resource }) {
  const done = progress(one.progress_done, one.progress_total);
  return (
    <dl class="facts-list">
      <dt>fresh</dt>
      <dd>
        <When at={one.fresh_at} never="never yet" />
      </dd>
      <dt>changed</dt>
      <dd>
        <When at={one.changed_at} never="never yet" />
      </dd>
      <dt>tried</dt>
      <dd>
        <When at={one.tried_at} never="never yet" />
      </dd>
      <dt>viewed</dt>
      <dd>
        <When at={one.viewed_at} never="not that we know" />
      </dd>
      <dt>followed</dt>
      <dd>
        {one.followed_at === null ? (
          "not by itself"
        ) : (
          <>
            since <When at={one.followed_at} />
          </>
        )}
      </dd>
      {one.description !== null && one.description !== one.key && (
        <>
          <dt>key</dt>
          <dd class="key">{one.key}</dd>
        </>
      )}
      <dt>upstream</dt>
      <dd>{one.upstream}</dd>
      <dt>lane</dt>
      <dd>
        {one.lane} ({one.urgency})
      </dd>
      <dt>lease</dt>
      <dd>
        {one.lease_until === null ? (
          `none now, ${figure(Number(one.lease_no))} so far`
        ) : (
          <>
            number {one.lease_no}, of worker {one.worker_id}, ends <When at={one.lease_until} />
          </>
        )}
      </dd>
      {done !== null && (
        <>
          <dt>progress</dt>
          <dd>
            {figure(Number(one.progress_done))} of {figure(Number(one.progress_total))} <Bar percent={done} />
          </dd>
        </>
      )}
      <Family one={one} />
    </dl>
  );
}

/** Who brought it forth, and whom it brought forth. */
function Family({ one }: { one: Resource }) {
  return (
    <>
      {one.parents.length > 0 && (
        <>
          <dt>brought forth by</dt>
          <dd>
            {one.parents.map((parent) => (
              <a key={`${parent.kind} ${parent.key}`} class="key" href={toResource(parent)}>
                {parent.key}
              </a>
            ))}
          </dd>
        </>
      )}
      {one.children > 0 && (
        <>
          <dt>brought forth</dt>
          <dd>
            <a href={toSource(one.source)}>{counted(one.children, "other")}</a>
          </dd>
        </>
      )}
    </>
  );
}
