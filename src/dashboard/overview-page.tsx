/** The overview: how it stands in words first, then every source, what happened of late, who may call whom, and who works. */
import type { Budgets, SourceStatus, Status } from "./answers.ts";
import { BudgetsPart } from "./budgets-part.tsx";
import { HistoryPart } from "./history-part.tsx";
import { live } from "./live.ts";
import { useReading } from "./reading.ts";
import { routeTo, toSource } from "./route.ts";
import { Bar, Part, When } from "./small.tsx";
import { useStore } from "./store.ts";
import { type Column, Table } from "./table.tsx";
import { counted, figure, percent, span } from "./words.ts";
import { WorkersPart } from "./workers-part.tsx";

export function OverviewPage() {
  const { status } = useStore(live);
  const budgets = useReading<Budgets>("/api/budgets");
  if (status === null) return <h1>Overview</h1>;
  return (
    <>
      <h1>{headline(status)}</h1>
      <Troubles status={status} budgets={budgets.value} />
      <Part title="Sources">
        <Table
          name="Sources"
          columns={columns}
          rows={status.sources}
          keyOf={(row) => row.source}
          empty={
            <>
              No source is loaded. Start with <code>tidemark up --source ./mine.js</code>.
            </>
          }
        />
      </Part>
      <HistoryPart status={status} />
      <BudgetsPart reading={budgets} upstreams={status.upstreams} />
      <WorkersPart workers={status.workers} />
    </>
  );
}

/** All of it in one sentence. */
function headline({ sources }: Status): string {
  const sum = (of: (one: SourceStatus) => number) => sources.reduce((all, one) => all + of(one), 0);
  const resources = sum((one) => one.resources);
  if (resources === 0) return "Nothing is followed yet";
  const fresh = sum((one) => one.fresh);
  const due = sum((one) => one.due);
  const leased = sum((one) => one.leased);
  const doing = [due > 0 ? `${figure(due)} due` : "", leased > 0 ? `${figure(leased)} being pulled` : ""].filter(
    Boolean,
  );
  const share = fresh >= resources ? "All" : `${figure(fresh)} of`;
  const tail = doing.length === 0 ? "" : `, ${doing.join(", ")}`;
  return `${share} ${counted(resources, "resource")} ${fresh === 1 ? "is" : "are"} fresh${tail}`;
}

interface Trouble {
  key: string;
  text: preact.ComponentChildren;
}

/** What somebody may have to know or do, each with where to look. */
function Troubles({ status, budgets }: { status: Status; budgets: Budgets | null }) {
  const troubles = [...ofWorkers(status), ...ofUpstreams(status, budgets), ...status.sources.flatMap(ofSource)];
  if (troubles.length > 0)
    return (
      <ul class="troubles">
        {troubles.map(({ key, text }) => (
          <li key={key}>{text}</li>
        ))}
      </ul>
    );
  if (status.sources.some((one) => one.resources > 0)) return null;
  return (
    <p>
      <a href={routeTo(["follow"])}>Follow something</a>, and watch it come in here.
    </p>
  );
}

function ofWorkers({ workers }: Status): Trouble[] {
  if (workers.length > 0) return [];
  const text = (
    <>
      No worker is running, so nothing is pulled: start <code>tidemark up</code> or <code>tidemark worker</code>.
    </>
  );
  return [{ key: "workers", text }];
}

function ofUpstreams({ upstreams }: Status, budgets: Budgets | null): Trouble[] {
  return upstreams
    .filter((one) => one.closed_until !== null)
    .map(({ upstream, closed_until, closed_reason }) => {
      const breaker = budgets?.breakers.find((one) => one.upstream === upstream)?.breaker ?? "closed";
      const how = breaker === "closed" ? "is closed, as it asked; it opens" : "is believed down; it is tested";
      const text = (
        <>
          <b>{upstream}</b> {how} <When at={closed_until} />: {closed_reason ?? "no reason was given"}
        </>
      );
      return { key: `upstream ${upstream}`, text };
    });
}

function ofSource({ source, parked, messages_parked }: SourceStatus): Trouble[] {
  const parked_text = (
    <>
      <a href={toSource(source, { status: "parked" })}>{counted(parked, "resource")} parked</a> in {source}: each says
      why, and comes back by hand or after its cool-off.
    </>
  );
  const messages_text = (
    <>
      {counted(messages_parked, "message")} parked in {source}: see <code>tidemark messages {source}</code>.
    </>
  );
  return [
    ...(parked > 0 ? [{ key: `parked ${source}`, text: parked_text }] : []),
    ...(messages_parked > 0 ? [{ key: `messages ${source}`, text: messages_text }] : []),
  ];
}

/** A number that leads to the resources that it counts. */
const counting = (
  head: string,
  of: (row: SourceStatus) => number,
  status: string,
  bad = false,
): Column<SourceStatus> => ({
  head,
  right: true,
  cell: (row) => {
    const n = of(row);
    if (n === 0) return <span class="faint">0</span>;
    return (
      <a class={bad ? "bad" : ""} href={toSource(row.source, { status })}>
        {figure(n)}
      </a>
    );
  },
});

const columns: Column<SourceStatus>[] = [
  { head: "source", cell: (row) => <a href={toSource(row.source)}>{row.source}</a> },
  { head: "followed", right: true, cell: (row) => figure(row.followed) },
  { head: "resources", right: true, minor: true, cell: (row) => figure(row.resources) },
  {
    head: "fresh",
    right: true,
    cell: (row) => (
      <span class="barred">
        {percent(row.fresh_percent)}
        <Bar percent={row.fresh_percent ?? 0} />
      </span>
    ),
  },
  counting("due", (row) => row.due, "due"),
  counting("running", (row) => row.leased, "leased"),
  counting("parked", (row) => row.parked, "parked", true),
  counting("paused", (row) => row.paused, "paused"),
  { head: "oldest due", right: true, cell: (row) => <When at={row.oldest_due_at} /> },
  { head: "messages", right: true, minor: true, cell: (row) => figure(row.messages) },
  { head: "pulls/min", right: true, minor: true, cell: (row) => figure(row.pulls_per_minute) },
  { head: "caught up in", right: true, cell: (row) => (row.eta_ms === null ? "–" : span(row.eta_ms)) },
];
