/** The page of this source in the dashboard: how far behind the feed is, a search of its packages, and what its catalog did. */
import { useState } from "preact/hooks";
import {
  type Column,
  counted,
  Failed,
  figure,
  Loading,
  Narrow,
  Part,
  State,
  Table,
  useReading,
  When,
} from "tidemark/dashboard";

export const title = "NuGet packages";

interface Skipped {
  package: string;
  version: string | null;
  reason: string;
  skipped_at: string;
}

interface Cursor {
  internal: string | null;
  public: string | null;
  pending: number;
  skipped: Skipped[];
  fresh_at: string | null;
}

interface Anomaly {
  what: string;
  times: string;
  last_at: string;
  example: string;
}

interface Found {
  id: string;
  version: string;
  description: string;
  tags: string[];
  versions: { version: string }[];
  deprecation?: { reasons: string[] };
  vulnerabilities?: object[];
}

export function Page() {
  const { value, failure, again } = useReading<Cursor>("/nuget/cursor");
  if (failure) return <Failed failure={failure} again={again} />;
  if (!value) return <Loading what="the cursor" />;
  const behind = value.public !== value.internal || value.pending > 0;
  return (
    <>
      <p class="facts">
        {behind ? (
          <State is="due">{counted(value.pending, "event")} to handle</State>
        ) : (
          <State is="fresh">up to date</State>
        )}
        {" · everything up to "}
        <code>{value.public ?? "the beginning"}</code>
        {" is here · read up to "}
        <code>{value.internal ?? "the beginning"}</code>
        {" · true as of "}
        <When at={value.fresh_at} never="never" />
        {" · what clients read: "}
        <a href="/nuget/v3/index.json">/nuget/v3/index.json</a>
      </p>
      <Search />
      <Skips skipped={value.skipped} />
      <Anomalies />
    </>
  );
}

const packages: Column<Found>[] = [
  { head: "package", cell: (row) => <span class="key">{row.id}</span> },
  { head: "newest", cell: (row) => <span class="key">{row.version}</span> },
  {
    head: "is",
    cell: (row) => {
      if (row.vulnerabilities) return <State is="parked">vulnerable</State>;
      return row.deprecation ? <State is="due">deprecated</State> : <State is="fresh">listed</State>;
    },
  },
  { head: "versions", right: true, cell: (row) => figure(row.versions.length) },
  { head: "about", minor: true, cell: (row) => row.description.slice(0, 120) },
];

function Search() {
  const [q, setQ] = useState("");
  const query = new URLSearchParams({ q: q.trim(), take: "20", prerelease: "true", semVerLevel: "2.0.0" });
  const { value, failure, again } = useReading<{ totalHits: number; data: Found[] }>(`/nuget/v3/search?${query}`, {
    keep: true,
  });
  const aside = (
    <>
      {value && `${counted(value.totalHits, "package")} · `}
      <Narrow label="Search" hint="json" value={q} set={setQ} />
    </>
  );
  return (
    <Part title="Packages" aside={aside}>
      {failure && <Failed failure={failure} again={again} />}
      {value && (
        <Table<Found>
          name="Packages"
          columns={packages}
          rows={value.data}
          keyOf={(row) => row.id}
          empty={
            q === "" ? "No package is listed yet: the first page of the catalog is on its way." : "No package matches."
          }
        />
      )}
    </Part>
  );
}

function Skips({ skipped }: { skipped: Skipped[] }) {
  const columns: Column<Skipped>[] = [
    { head: "package", cell: (row) => <span class="key">{row.package}</span> },
    { head: "version", cell: (row) => <span class="key">{row.version ?? "–"}</span> },
    { head: "why", cell: (row) => row.reason },
    { head: "skipped", right: true, cell: (row) => <When at={row.skipped_at} /> },
  ];
  return (
    <Part title="Passed over" aside="events that failed too often; “tidemark messages” tries them again">
      <Table<Skipped>
        name="Events that were passed over"
        columns={columns}
        rows={skipped}
        keyOf={(row) => `${row.package} ${row.version}`}
        empty="None: everything up to the public cursor was handled."
      />
    </Part>
  );
}

function Anomalies() {
  const { value, failure, again } = useReading<{ anomalies: Anomaly[] }>("/nuget/anomalies");
  const columns: Column<Anomaly>[] = [
    { head: "the catalog had", cell: (row) => row.what },
    { head: "times", right: true, cell: (row) => figure(Number(row.times)) },
    { head: "for example", minor: true, cell: (row) => <code class="faint">{row.example}</code> },
    { head: "last", right: true, cell: (row) => <When at={row.last_at} /> },
  ];
  return (
    <Part title="Anomalies" aside="what its protocol does not say: tolerated and counted">
      {failure && <Failed failure={failure} again={again} />}
      {value && (
        <Table<Anomaly>
          name="Anomalies"
          columns={columns}
          rows={value.anomalies}
          keyOf={(row) => row.what}
          empty="None: the catalog did nothing but what its protocol says."
        />
      )}
    </Part>
  );
}
