/** The page of this source in the dashboard: a search of all issues, how far each repository is, and what makes vectors. */
import { useState } from "preact/hooks";
import {
  Bar,
  type Column,
  counted,
  Failed,
  figure,
  Narrow,
  Notice,
  Paged,
  Part,
  percent,
  State,
  span,
  Table,
  toResource,
  useReading,
  When,
} from "tidemark/dashboard";

export const title = "GitHub issues";
export const example = "microsoft/vscode";

interface Generation {
  generation: number;
  model: string;
  dimensions: number | null;
  vectors: number;
  waiting: number;
  failed: number;
  in_use: boolean;
  completed_at: string | null;
}

interface Status {
  semantic: "on" | "off";
  why: string | null;
  model: string | null;
  where: string | null;
  compared_by: string;
  generations: Generation[];
  fresh_at: string | null;
}

interface Result {
  repository: string;
  number: number;
  url: string;
  title: string;
  state: string;
  labels: string[];
  comments: number;
  updated_at: string;
  snippet: string;
  score: number | null;
  score_parts: { words: number | null; meaning: number | null; exact: boolean } | null;
}

interface Repository {
  repository: string;
  key: string;
  init_status: string;
  initialised_at: string | null;
  sync_status: string;
  synced_at: string | null;
  progress: { done: number; total: number } | null;
  place: number | null;
  eta_ms: number | null;
  mirrored: number;
  issue_updated_at: string | null;
  embedded: number | null;
  embedded_failed: number;
  searchable: boolean;
  searchable_why: string;
}

export function Page() {
  const { value, failure, again } = useReading<Status>("/issues/status");
  return (
    <>
      {failure && <Failed failure={failure} again={again} />}
      {value && (
        <p class="facts">
          {value.semantic === "on" ? (
            <>
              <State is="fresh">found by words and by meaning</State>
              {` · ${value.model} at ${value.where} · compared by ${value.compared_by}`}
            </>
          ) : (
            <State is="due">found by words alone</State>
          )}
          {" · true as of "}
          <When at={value.fresh_at} never="never" />
        </p>
      )}
      {value?.why && <Notice>{value.why}</Notice>}
      <Search />
      <Repositories />
      {value && <Generations all={value.generations} />}
    </>
  );
}

/** Which leg found it. */
function found({ score, score_parts }: Result): string {
  if (score === null || score_parts === null) return "–";
  const legs = [
    score_parts.exact ? "letter by letter" : score_parts.words === null ? "" : "words",
    score_parts.meaning === null ? "" : `meaning ${score_parts.meaning.toFixed(2)}`,
  ].filter(Boolean);
  return legs.join(", ");
}

/** What was found stands between two pairs of stars. */
function Snippet({ text }: { text: string }) {
  const parts = text.split("**");
  return <span class="faint">{parts.map((part, i) => (i % 2 === 1 ? <mark key={i}>{part}</mark> : part))}</span>;
}

const results: Column<Result>[] = [
  {
    head: "issue",
    wide: true,
    cell: (row) => (
      <>
        <a href={row.url} rel="noreferrer" target="_blank">
          {row.title}
        </a>
        <br />
        <Snippet text={row.snippet} />
      </>
    ),
  },
  { head: "of", cell: (row) => <span class="key">{`${row.repository}#${row.number}`}</span> },
  { head: "is", cell: (row) => <State is={row.state === "open" ? "fresh" : "gone"}>{row.state}</State> },
  { head: "labels", minor: true, cell: (row) => row.labels.join(", ") },
  { head: "comments", right: true, minor: true, cell: (row) => figure(row.comments) },
  { head: "found by", minor: true, cell: found },
  { head: "updated", right: true, cell: (row) => <When at={row.updated_at} /> },
];

function Search() {
  const [q, setQ] = useState("");
  const aside = <Narrow label="Search" hint={'crash label:bug "exact words"'} value={q} set={setQ} />;
  return (
    <Part title="Issues" aside={aside}>
      <Paged<Result>
        name="Issues"
        path="/issues/search"
        query={{ q: q.trim() }}
        limit={10}
        columns={results}
        keyOf={(row) => `${row.repository}#${row.number}`}
        empty={
          q === "" ? "No issue is here yet: follow a repository, such as microsoft/vscode." : "No issue is like that."
        }
      />
    </Part>
  );
}

/** Its first reading while that lasts, and its syncs afterwards. */
function Doing({ row }: { row: Repository }) {
  if (row.init_status === "done") return <State is="fresh">{`synced, ${row.sync_status}`}</State>;
  const { done = 0, total = 0 } = row.progress ?? {};
  const place = row.place === null ? "" : `, ${figure(row.place)} in line`;
  const left = row.eta_ms === null ? "" : `, about ${span(row.eta_ms)} left`;
  return (
    <>
      <State is={row.init_status === "in progress" ? "leased" : "due"}>{`${row.init_status}${place}${left}`}</State>
      {total > 0 && (
        <>
          {` ${percent((100 * done) / total)} of ${figure(total)}`}
          <Bar percent={(100 * done) / total} />
        </>
      )}
    </>
  );
}

const repositories: Column<Repository>[] = [
  {
    head: "repository",
    cell: (row) => (
      <a class="key" href={toResource({ source: "github-issues", kind: "repository", key: row.key })}>
        {row.repository}
      </a>
    ),
  },
  { head: "is", cell: (row) => <Doing row={row} /> },
  { head: "issues", right: true, cell: (row) => figure(row.mirrored) },
  {
    head: "with vectors",
    right: true,
    cell: (row) =>
      row.embedded === null
        ? "–"
        : `${(100 * row.embedded).toFixed(1)} %${row.embedded_failed > 0 ? `, ${figure(row.embedded_failed)} failed` : ""}`,
  },
  {
    head: "searchable",
    minor: true,
    cell: (row) => <span title={row.searchable_why}>{row.searchable ? "yes" : row.searchable_why}</span>,
  },
  { head: "newest update", right: true, minor: true, cell: (row) => <When at={row.issue_updated_at} /> },
  { head: "initialised", right: true, minor: true, cell: (row) => <When at={row.initialised_at} /> },
  { head: "synced", right: true, cell: (row) => <When at={row.synced_at} /> },
];

function Repositories() {
  return (
    <Part title="Repositories" aside="initialised one at a time, first come first served">
      <Paged<Repository>
        name="Repositories"
        path="/issues/repos"
        limit={20}
        columns={repositories}
        keyOf={(row) => row.key}
        empty="No repository is followed."
      />
    </Part>
  );
}

function Generations({ all }: { all: Generation[] }) {
  const columns: Column<Generation>[] = [
    { head: "model", cell: (row) => <span class="key">{row.model}</span> },
    {
      head: "is",
      cell: (row) => <State is={row.in_use ? "fresh" : "due"}>{row.in_use ? "in use" : "being built"}</State>,
    },
    { head: "vectors", right: true, cell: (row) => figure(row.vectors) },
    { head: "to embed", right: true, cell: (row) => figure(row.waiting) },
    { head: "failed", right: true, cell: (row) => figure(row.failed) },
    {
      head: "dimensions",
      right: true,
      minor: true,
      cell: (row) => (row.dimensions === null ? "–" : figure(row.dimensions)),
    },
    { head: "whole since", right: true, minor: true, cell: (row) => <When at={row.completed_at} never="not yet" /> },
  ];
  return (
    <Part title="Vectors" aside={counted(all.length, "generation")}>
      <Table<Generation>
        name="Generations of vectors"
        columns={columns}
        rows={all}
        keyOf={(row) => row.generation}
        empty="There are none yet."
      />
    </Part>
  );
}
