/** One source: how it stands, its resources with filters, and the page that it brings along. */
import type { Listed, ListedPage, SourceInFull } from "./answers.ts";
import { type Reading, useReading } from "./reading.ts";
import { go, goQuietly, routeTo, toResource, toSource } from "./route.ts";
import { Failed, Loading, Part, State, When } from "./small.tsx";
import { useOwnPage } from "./source-pages.ts";
import { type Column, Table } from "./table.tsx";
import { counted, figure, percent, progress, readable, span } from "./words.ts";

const PAGE = 50;
const statuses = ["waiting", "due", "leased", "parked", "paused", "gone"] as const;

interface SourcePageProps {
  source: string;
  /** "page" for what the source itself shows; null for its resources. */
  view: string | null;
  query: URLSearchParams;
}

export function SourcePage({ source, view, query }: SourcePageProps) {
  const reading = useReading<SourceInFull>(`/api/sources/${encodeURIComponent(source)}`);
  const own = useOwnPage(source);
  const here = (is: boolean) => (is ? { "aria-current": "page" as const } : {});
  return (
    <>
      <h1>{source}</h1>
      {reading.failure && <Failed failure={reading.failure} again={reading.again} />}
      {reading.value && <Standing one={reading.value} />}
      {own && (
        <nav class="ways tabs" aria-label={`Pages of ${source}`}>
          <a href={toSource(source)} {...here(view === null)}>
            Resources
          </a>
          <a href={routeTo(["sources", source, "page"])} {...here(view === "page")}>
            {own.title}
          </a>
        </nav>
      )}
      {view === "page" && own ? (
        <own.Page />
      ) : (
        <Resources key={source} source={source} kinds={reading.value?.kinds ?? []} query={query} />
      )}
    </>
  );
}

function Standing({ one }: { one: SourceInFull }) {
  const facts = [
    `${figure(one.followed)} followed`,
    counted(one.resources, "resource"),
    `${percent(one.fresh_percent)} fresh`,
    ...(one.due > 0 ? [`${figure(one.due)} due`] : []),
    ...(one.leased > 0 ? [`${figure(one.leased)} being pulled`] : []),
    ...(one.parked > 0 ? [`${figure(one.parked)} parked`] : []),
    ...(one.messages > 0 ? [counted(one.messages, "message")] : []),
    `${figure(one.pulls_per_minute)} pulls/min`,
    ...(one.eta_ms === null ? [] : [`caught up in ${span(one.eta_ms)}`]),
  ];
  return (
    <>
      <p class="facts">{facts.join(" · ")}</p>
      {one.upstreams
        .filter((upstream) => upstream.closed_until !== null)
        .map(({ upstream, closed_until, closed_reason }) => (
          <p key={upstream} class="notice bad">
            <b>{upstream}</b> is closed; it opens <When at={closed_until} />: {closed_reason ?? "no reason was given"}
          </p>
        ))}
      {one.tidemarks.map((t) => (
        <p key={t.key} class="facts">
          Tidemark of {t.kind} {t.key}: {t.position} of {t.internal} read
          {t.skips > 0 && `, ${counted(t.skips, "message")} skipped`}
        </p>
      ))}
    </>
  );
}

interface Filter {
  q: string;
  kind: string;
  status: string;
  after: string;
}

const readFilter = (query: URLSearchParams): Filter => ({
  q: query.get("q") ?? "",
  kind: query.get("kind") ?? "",
  status: query.get("status") ?? "",
  after: query.get("after") ?? "",
});

function Resources({ source, kinds, query }: { source: string; kinds: string[]; query: URLSearchParams }) {
  const filter = readFilter(query);
  const asked = new URLSearchParams({ source, limit: String(PAGE) });
  for (const [name, value] of Object.entries(filter)) if (value !== "") asked.set(name, value);
  const reading = useReading<ListedPage>(`/api/resources?${asked}`, { keep: true });
  const narrow = (part: Partial<Filter>) => goQuietly(toSource(source, { ...filter, after: "", ...part }));
  return (
    <Part title="Resources">
      <Filters filter={filter} kinds={kinds} narrow={narrow} />
      {reading.failure && <Failed failure={reading.failure} again={reading.again} />}
      <Found source={source} filter={filter} reading={reading} />
    </Part>
  );
}

interface FiltersProps {
  filter: Filter;
  kinds: string[];
  narrow: (part: Partial<Filter>) => void;
}

function Filters({ filter, kinds, narrow }: FiltersProps) {
  return (
    <form class="filters" onSubmit={(event) => event.preventDefault()}>
      <label>
        Search
        <input
          type="search"
          placeholder="a part of the key or name"
          value={filter.q}
          maxLength={1024}
          onInput={(event) => narrow({ q: event.currentTarget.value })}
        />
      </label>
      <label>
        Status
        <select value={filter.status} onChange={(event) => narrow({ status: event.currentTarget.value })}>
          <option value="">any</option>
          {statuses.map((status) => (
            <option key={status}>{status}</option>
          ))}
        </select>
      </label>
      {kinds.length > 1 && (
        <label>
          Kind
          <select value={filter.kind} onChange={(event) => narrow({ kind: event.currentTarget.value })}>
            <option value="">any</option>
            {kinds.map((kind) => (
              <option key={kind}>{kind}</option>
            ))}
          </select>
        </label>
      )}
    </form>
  );
}

function Found({ source, filter, reading }: { source: string; filter: Filter; reading: Reading<ListedPage> }) {
  const { value, failure } = reading;
  if (value === null) return failure ? null : <Loading what="the resources" />;
  const narrowed = filter.q !== "" || filter.kind !== "" || filter.status !== "";
  const empty = narrowed ? (
    <>
      Nothing matches. <a href={toSource(source)}>Show all of {source}</a>.
    </>
  ) : (
    <>
      Nothing is followed here yet. <a href={routeTo(["follow"], { source })}>Follow something</a>.
    </>
  );
  return (
    <>
      <Table name="Resources" columns={columns} rows={value.resources} keyOf={(row) => row.resource_id} empty={empty} />
      <div class="pager">
        {filter.after !== "" && (
          <button type="button" onClick={() => go(toSource(source, { ...filter, after: "" }))}>
            To the first
          </button>
        )}
        {value.next !== null && (
          <button type="button" onClick={() => go(toSource(source, { ...filter, after: value.next }))}>
            More
          </button>
        )}
      </div>
    </>
  );
}

const columns: Column<Listed>[] = [
  {
    head: "resource",
    cell: (row) => (
      <a class="key" href={toResource(row)} title={row.key}>
        {row.description ?? row.key}
      </a>
    ),
  },
  { head: "kind", minor: true, cell: (row) => row.kind },
  { head: "status", cell: (row) => <State is={row.status} /> },
  {
    head: "place",
    right: true,
    cell: (row) => (row.place === null ? <span class="faint">–</span> : figure(row.place)),
  },
  { head: "fresh", right: true, cell: (row) => <When at={row.fresh_at} never="never" /> },
  { head: "due", right: true, cell: (row) => <When at={row.due_at} /> },
  { head: "changed", right: true, minor: true, cell: (row) => <When at={row.changed_at} /> },
  {
    head: "progress",
    right: true,
    minor: true,
    cell: (row) => {
      const done = progress(row.progress_done, row.progress_total);
      return done === null ? "" : percent(Math.floor(done));
    },
  },
  { head: "reason", wide: true, cell: (row) => (row.reason === null ? "" : readable(row.reason)) },
];
