/** The page of this source in the dashboard: a search with its scope, the hosts that are crawled, and the pages of one of them. */
import { useState } from "preact/hooks";
import {
  type Column,
  counted,
  Failed,
  figure,
  Narrow,
  Notice,
  Paged,
  Part,
  State,
  span,
  Table,
  useReading,
  When,
} from "tidemark/dashboard";
import type { HostListing, PageListing, SearchAnswer } from "./answers.ts";

export const title = "Web pages";
export const example = "www.gsa.gov";

export function Page() {
  const [host, setHost] = useState("");
  return (
    <>
      <Search />
      <Hosts choose={setHost} />
      <Pages host={host} setHost={setHost} />
    </>
  );
}

type Result = SearchAnswer["results"][number];

const entities: Record<string, string> = { "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#39;": "'" };
const plain = (text: string): string => text.replace(/&(amp|lt|gt|quot|#39);/g, (entity) => entities[entity]!);

/** The marks are the only markup in it; the rest is text, and stays text. */
function Snippet({ html }: { html: string }) {
  const parts = html.split(/<\/?mark>/);
  return <>{parts.map((part, n) => (n % 2 === 1 ? <mark key={`${n} ${part}`}>{plain(part)}</mark> : plain(part)))}</>;
}

const results: Column<Result>[] = [
  {
    head: "page",
    wide: true,
    cell: (row) => (
      <>
        <a href={row.url} rel="noreferrer">
          {row.title}
        </a>
        <br />
        <Snippet html={row.snippet} />
        <br />
        <span class="faint">{row.url}</span>
      </>
    ),
  },
  { head: "changed", right: true, minor: true, cell: (row) => <When at={row.changed_at} never="–" /> },
  { head: "true as of", right: true, cell: (row) => <When at={row.fresh_at} never="–" /> },
];

function Search() {
  const [q, setQ] = useState("");
  const [scope, setScope] = useState("");
  const query = new URLSearchParams({
    q: q.trim() || "permit",
    limit: "10",
    ...(scope.trim() ? { in: scope.trim() } : {}),
  });
  const { value, failure, again } = useReading<SearchAnswer>(`/web/search?${query}`, { keep: true });
  const total = value && `${value.total.exact ? "" : "about "}${counted(value.total.pages, "page")} · `;
  const aside = (
    <>
      {total}
      <Narrow label="Search" hint="permit" value={q} set={setQ} />
      <Narrow label="in" hint="gov/gsa/tts" value={scope} set={setScope} />
    </>
  );
  return (
    <Part title="Search" aside={aside}>
      {failure && <Failed failure={failure} again={again} />}
      {value?.ranked.capped && (
        <Notice>{`The best of ${figure(value.ranked.pages)} that were ranked; there are more.`}</Notice>
      )}
      {value && (
        <Table<Result>
          name="Pages found"
          columns={results}
          rows={value.results}
          keyOf={(row) => row.url}
          empty={nothing(value)}
        />
      )}
    </Part>
  );
}

function nothing({ suggestions }: SearchAnswer): string {
  if (suggestions.length === 0) return "No page matches.";
  const tries = suggestions.map(({ q, in: scope, why }) => `“${q}”${scope === null ? "" : ` in ${scope}`} (${why})`);
  return `No page matches. Try ${tries.join(", or ")}.`;
}

function Hosts({ choose }: { choose(host: string): void }) {
  const columns: Column<HostListing>[] = [
    {
      head: "host",
      cell: (row) => (
        <button type="button" onClick={() => choose(row.host)}>
          {row.host}
        </button>
      ),
    },
    { head: "visited", right: true, cell: (row) => `${figure(row.fetched)} of ${figure(row.known)}` },
    { head: "left out", right: true, minor: true, cell: (row) => (row.refused === 0 ? "–" : figure(row.refused)) },
    { head: "gap", right: true, minor: true, cell: (row) => span(row.delay_ms) },
    { head: "is", cell: (row) => <State is={row.fresh_at === null ? "due" : "fresh"}>{row.status}</State> },
    { head: "true as of", right: true, cell: (row) => <When at={row.fresh_at} never="not yet" /> },
  ];
  return (
    <Part title="Hosts" aside="each visited by one worker at a time">
      <Paged<HostListing>
        name="Hosts"
        path="/web/hosts"
        limit={20}
        columns={columns}
        keyOf={(row) => row.host}
        empty="No host was visited yet: “tidemark follow web www.gsa.gov” follows one."
      />
    </Part>
  );
}

function Pages({ host, setHost }: { host: string; setHost(host: string): void }) {
  const columns: Column<PageListing>[] = [
    { head: "page", cell: (row) => <span class="key">{row.path}</span> },
    {
      head: "is",
      cell: (row) => <State is={row.found ? "fresh" : "parked"}>{row.found ? "found" : "not found"}</State>,
    },
    {
      head: "why",
      wide: true,
      cell: (row) =>
        row.reason ??
        (row.found ? (row.title ?? "") : row.status === 0 ? "not visited yet" : "another page stands for it"),
    },
    { head: "every", right: true, minor: true, cell: (row) => span(row.interval_s * 1000) },
    { head: "next", right: true, cell: (row) => <When at={row.next_fetch} never="never" /> },
  ];
  const aside = (
    <>
      {"why some cannot be found · "}
      <Narrow label="Pages of" hint="www.gsa.gov" value={host} set={setHost} />
    </>
  );
  return (
    <Part title="Pages" aside={aside}>
      {host.trim() === "" ? (
        <p class="faint">Choose a host.</p>
      ) : (
        <Paged<PageListing>
          name="Pages of the host"
          path="/web/pages"
          query={{ host: host.trim() }}
          limit={20}
          columns={columns}
          keyOf={(row) => row.path}
          empty="No page of such a host is known."
        />
      )}
    </Part>
  );
}
