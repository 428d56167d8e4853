/** What a resource has behind it: pulls worth remembering, messages, and how far its tidemark is. */
import type { MessageStatus, PullStatus, Resource } from "./answers.ts";
import { post } from "./api.ts";
import { attempt } from "./saying.tsx";
import { Part, State, When } from "./small.tsx";
import { type Column, Table } from "./table.tsx";
import { counted, figure, readable, span } from "./words.ts";

const outcome_looks: Record<string, string> = { fresh: "fresh", failed: "parked", lost: "parked", gone: "gone" };

const pull_columns: Column<PullStatus>[] = [
  { head: "started", cell: (row) => <When at={row.started_at} /> },
  { head: "outcome", cell: (row) => <State is={outcome_looks[row.outcome] ?? "waiting"}>{row.outcome}</State> },
  { head: "took", right: true, cell: (row) => span(row.ms) },
  { head: "changed", right: true, cell: (row) => figure(row.changed) },
  { head: "worker", right: true, minor: true, cell: (row) => row.worker_id ?? "–" },
  {
    head: "reason",
    wide: true,
    cell: (row) => readable(row.reason ?? row.error?.sentence ?? ""),
  },
];

export function Pulls({ pulls }: { pulls: PullStatus[] }) {
  return (
    <Part title="Pulls" aside="those of the last 7 days that changed something, failed or were slow">
      <Table
        name="Pulls"
        columns={pull_columns}
        rows={pulls}
        keyOf={(row) => row.started_at}
        empty="None that changed something, failed or was slow; the others are only counted."
      />
    </Part>
  );
}

/** Letters of a message in the table; the rest is shown when it is pointed at. */
const SAYS_MOST = 120;

/** What waits in its mailbox, and what was parked there; nothing where nothing ever was. */
export function Mailbox({ one, again }: { one: Resource; again: () => void }) {
  const { waiting, parked } = one.mailbox;
  if (waiting.length === 0 && parked.length === 0) return null;
  const retry = async ({ seq }: MessageStatus) => {
    await attempt(
      () => post(`/api/messages/${one.resource_id}/${seq}/retry`),
      () => `Message ${seq} is at the end of the mailbox again.`,
    );
    again();
  };
  const columns: Column<MessageStatus>[] = [
    { head: "message", cell: (row) => row.seq },
    { head: "posted", cell: (row) => <When at={row.posted_at} /> },
    { head: "tries", right: true, cell: (row) => figure(row.tries) },
    { head: "says", minor: true, cell: (row) => <code title={row.payload}>{row.payload.slice(0, SAYS_MOST)}</code> },
    { head: "error", wide: true, cell: (row) => row.error?.sentence ?? row.error?.code ?? "" },
    {
      head: "",
      cell: (row) =>
        row.parked_at !== null && (
          <button type="button" onClick={() => retry(row)}>
            Try again
          </button>
        ),
    },
  ];
  return (
    <Part title="Messages" aside={`${counted(Number(one.mail), "message")} waiting, ${figure(parked.length)} parked`}>
      <Table name="Messages" columns={columns} rows={[...parked, ...waiting]} keyOf={(row) => row.seq} empty="" />
    </Part>
  );
}

export function Tidemark({ one }: { one: Resource }) {
  const { tidemark } = one;
  if (tidemark === null) return null;
  return (
    <Part title="Tidemark">
      <p>
        Everything up to {tidemark.position} is in the mirror; {tidemark.internal} was read. It moved{" "}
        <When at={tidemark.moved_at} />.
        {tidemark.anomalies !== "0" && ` Positions that came late: ${tidemark.anomalies}.`}
      </p>
      {tidemark.skipped.length > 0 && (
        <Table
          name="Skipped messages"
          columns={[
            { head: "position", cell: (row) => row.position },
            { head: "skipped", cell: (row) => <When at={row.skipped_at} /> },
            { head: "reason", wide: true, cell: (row) => row.reason },
          ]}
          rows={tidemark.skipped}
          keyOf={(row) => `${row.position} ${row.seq}`}
          empty=""
        />
      )}
    </Part>
  );
}
