/** Who may call whom: each allowance with its shares, what is left, until when it is closed, who waits, and the breakers. */
import type { BreakerStatus, BudgetStatus, Budgets, UpstreamStatus } from "./answers.ts";
import type { Reading } from "./reading.ts";
import { Bar, Failed, Loading, Part, State, When } from "./small.tsx";
import { type Column, Table } from "./table.tsx";
import { counted, figure, span } from "./words.ts";

/** More rows than these say less. */
const ROWS_MOST = 30;

/** Those that somebody may have to look at come first, and only so many. */
function foremost<R>(rows: R[], troubled: (row: R) => boolean): R[] {
  return [...rows.filter(troubled), ...rows.filter((row) => !troubled(row))].slice(0, ROWS_MOST);
}

function More({ all, of }: { all: number; of: string }) {
  if (all <= ROWS_MOST) return null;
  return (
    <p class="faint">
      … and {counted(all - ROWS_MOST, "other")} beside these: <a href={of}>{of}</a> has all of them.
    </p>
  );
}

export function BudgetsPart({ reading, upstreams }: { reading: Reading<Budgets>; upstreams: UpstreamStatus[] }) {
  const { value, failure, again } = reading;
  const breakers = value?.breakers ?? [];
  return (
    <>
      <Part title="Upstreams">
        <Table
          name="Upstreams"
          columns={upstreamColumns(breakers)}
          rows={foremost(upstreams, (row) => row.closed_until !== null)}
          keyOf={(row) => row.upstream}
          empty="None is known yet: they come with what is followed."
        />
        <More all={upstreams.length} of="/api/status" />
      </Part>
      <Part title="Budgets">
        {failure && <Failed failure={failure} again={again} />}
        {value === null ? (
          !failure && <Loading what="the budgets" />
        ) : (
          <>
            <Table
              name="Budgets"
              columns={columns}
              rows={foremost(value.budgets, isTroubled)}
              keyOf={(row) => row.budget}
              empty="Nothing was spent yet: a budget is here from its first call on."
            />
            <More all={value.budgets.length} of="/api/budgets" />
          </>
        )}
      </Part>
    </>
  );
}

const isTroubled = ({ closed_until, shares }: BudgetStatus): boolean =>
  closed_until !== null || shares.some((one) => one.waiting);

const breaker_words = {
  closed: { is: "fresh", says: "well" },
  open: { is: "parked", says: "believed down" },
  probing: { is: "due", says: "one call tests it" },
};

function upstreamColumns(breakers: BreakerStatus[]): Column<UpstreamStatus>[] {
  const breakerOf = ({ upstream }: UpstreamStatus) => breakers.find((one) => one.upstream === upstream);
  return [
    { head: "upstream", cell: (row) => row.upstream },
    {
      head: "breaker",
      cell: (row) => {
        const { is, says } = breaker_words[breakerOf(row)?.breaker ?? "closed"];
        return <State is={is}>{says}</State>;
      },
    },
    {
      head: "failing",
      right: true,
      cell: (row) => {
        const failing = breakerOf(row)?.failing ?? 0;
        return failing === 0 ? <span class="faint">none</span> : counted(failing, "resource");
      },
    },
    { head: "opens", right: true, cell: (row) => <When at={row.closed_until} never="open" /> },
    { head: "why", wide: true, cell: (row) => row.closed_reason ?? "" },
  ];
}

const columns: Column<BudgetStatus>[] = [
  { head: "budget", cell: (row) => row.budget },
  { head: "allows", cell: allows },
  {
    head: "used",
    right: true,
    cell: (row) =>
      row.used === null || row.shape === "account" ? (
        "–"
      ) : (
        <span class="barred">
          {figure(row.used)} of {figure(row.room)}
          <Bar percent={(row.used / Math.max(1, row.room)) * 100} is="used" />
        </span>
      ),
  },
  { head: "left", right: true, cell: (row) => figure(row.left) },
  { head: "kept", right: true, minor: true, cell: (row) => figure(row.reserved) },
  { head: "lent", right: true, minor: true, cell: (row) => figure(row.lent) },
  { head: "resets", right: true, minor: true, cell: (row) => <When at={row.window_until} /> },
  { head: "shares", wide: true, cell: (row) => <Shares row={row} /> },
  {
    head: "closed",
    wide: true,
    cell: (row) =>
      row.closed_until === null ? (
        <span class="faint">no</span>
      ) : (
        <span class="bad">
          opens <When at={row.closed_until} />: {row.closed_reason}
        </span>
      ),
  },
];

function allows(b: BudgetStatus): string {
  if (b.shape === "pace") return `${figure(b.per_second)} a second`;
  if (b.shape === "window") return `${figure(b.room)} in ${span(b.period_ms ?? 0)}`;
  if (b.shape === "gap") return `one, then ${span(b.period_ms ?? 0)}`;
  // An account allows nothing of its own; it is there while it is closed.
  return b.shape === "flights" ? `${figure(b.room)} at once` : b.shape;
}

/** What is kept for whom, and who was refused a moment ago. */
function Shares({ row }: { row: BudgetStatus }) {
  const shown = row.shares.filter((one) => one.share !== "" || one.waiting);
  if (shown.length === 0) return <span class="faint">not divided</span>;
  const bounded = row.shape !== "account";
  return (
    <ul class="plain">
      {shown.map((one) => (
        <li key={one.share}>
          {one.share || "all others"}
          {bounded && `: ${figure(one.left)} left`}
          {bounded && one.share !== "" && one.reserved > 0 && (
            <span class="faint">, {figure(Math.round(one.reserved * 100))} % kept</span>
          )}
          {one.waiting && (
            <>
              {" "}
              <State is="due">waits {span(one.wait_ms)}</State>
            </>
          )}
        </li>
      ))}
    </ul>
  );
}
