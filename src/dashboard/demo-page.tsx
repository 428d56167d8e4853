/** The demo: buttons that make things happen at the pretend upstreams, so that one can watch the mirror follow. */
import { useState } from "preact/hooks";
import type { Demo } from "./answers.ts";
import { post } from "./api.ts";
import { useReading } from "./reading.ts";
import { attempt } from "./saying.tsx";
import { Failed, Loading, Part, When } from "./small.tsx";
import { Table } from "./table.tsx";

export function DemoPage() {
  const { value, failure, again } = useReading<Demo>("/api/demo");
  const [busy, setBusy] = useState(false);
  const act = async (action: string) => {
    setBusy(true);
    await attempt(
      () => post<{ sentence: string }>(`/api/demo/${encodeURIComponent(action)}`),
      ({ sentence }) => sentence,
    );
    setBusy(false);
    again();
  };
  if (value === null) return failure ? <Failed failure={failure} again={again} /> : <Loading what="what can be done" />;
  return (
    <>
      <h1>Demo</h1>
      <p>
        The upstreams are pretend ones on this machine. Make something happen there, and watch the{" "}
        <a href="#/">overview</a> and the pages of the sources.
      </p>
      <dl class="doing">
        {value.actions.map(({ action, title, says }) => (
          <div key={action}>
            <dt>
              <button type="button" disabled={busy} onClick={() => act(action)}>
                {title}
              </button>
            </dt>
            <dd>
              {says} <code>tidemark demo {action}</code>
            </dd>
          </div>
        ))}
      </dl>
      <Part title="What happened upstream">
        <Table
          name="What happened upstream"
          columns={[
            { head: "when", cell: (row) => <When at={row.at} /> },
            { head: "what", wide: true, cell: (row) => row.sentence },
          ]}
          rows={value.happened}
          keyOf={(row) => `${row.at} ${row.sentence}`}
          empty="Nothing yet. A tag is pushed every 20 seconds, and whenever you press a button."
        />
      </Part>
    </>
  );
}
