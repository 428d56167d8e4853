/** What happened of late: pulls a minute, and how much was fresh, over time. */
import { useState } from "preact/hooks";
import type { History, Status } from "./answers.ts";
import { Chart } from "./chart.tsx";
import { useReading } from "./reading.ts";
import { Failed, Loading, Part } from "./small.tsx";
import { figure, percent } from "./words.ts";

const spans: [string, string][] = [
  ["1", "1 hour"],
  ["6", "6 hours"],
  ["24", "1 day"],
  ["168", "7 days"],
];

export function HistoryPart({ status }: { status: Status }) {
  const [hours, setHours] = useState("1");
  const { value, failure, again } = useReading<History>(`/api/history?hours=${hours}`);
  const choice = (
    <label>
      The last{" "}
      <select value={hours} onChange={(event) => setHours(event.currentTarget.value)}>
        {spans.map(([n, says]) => (
          <option key={n} value={n}>
            {says}
          </option>
        ))}
      </select>
    </label>
  );
  return (
    <Part title="Over time" aside={choice}>
      {failure && <Failed failure={failure} again={again} />}
      {value === null ? !failure && <Loading what="the history" /> : <Charts history={value} status={status} />}
    </Part>
  );
}

function Charts({ history, status }: { history: History; status: Status }) {
  const times = history.moments.map((at) => Date.parse(at) / 1000);
  const sum = (of: (one: History["sources"][number]) => number[]) =>
    times.map((_, i) => history.sources.reduce((all, one) => all + (of(one)[i] ?? 0), 0) * (60_000 / history.step_ms));
  const pulls = sum((one) => one.pulls);
  const changed = sum((one) => one.changed);
  const failed = sum((one) => one.failed);
  const last = (list: number[]) => figure(Math.round((list.at(-2) ?? 0) * 10) / 10);
  return (
    <div class="charts">
      <Chart
        title="Pulls a minute"
        says={`${last(pulls)} pulls in the last full minute, of which ${last(changed)} changed something and ${last(failed)} failed.`}
        times={times}
        format={figure}
        series={[
          { label: "all", values: pulls, look: "all", filled: true },
          { label: "changed", values: drawn(changed), look: "changed" },
          { label: "failed", values: drawn(failed), look: "failed" },
        ]}
      />
      <Freshness history={history} status={status} times={times} />
    </div>
  );
}

/** A line along the ground would only look like trouble. */
const drawn = (values: number[]): (number | null)[] => (values.some((n) => n > 0) ? values : values.map(() => null));

function Freshness({ history, status, times }: { history: History; status: Status; times: number[] }) {
  // What was noted last may be a minute old; the status is not.
  const series = history.sources.map((one, i) => {
    const now = status.sources.find((now) => now.source === one.source)?.fresh_percent ?? null;
    return {
      label: one.source,
      values: [...one.fresh_percent.slice(0, -1), now],
      look: i === 0 ? "all" : `other-${i}`,
    };
  });
  const says = status.sources.map((one) => `${one.source} ${percent(one.fresh_percent)}`).join(", ");
  return (
    <Chart
      title="Fresh, in percent"
      says={`Fresh now: ${says}.`}
      times={times}
      format={percent}
      most={100}
      series={series}
    />
  );
}
