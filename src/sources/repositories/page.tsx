/** The page of this source in the dashboard: what was analysed lately, and the report on one repository. */
import { useEffect, useState } from "preact/hooks";
import {
  Bar,
  type Column,
  counted,
  Failed,
  figure,
  get,
  Loading,
  Narrow,
  Paged,
  Part,
  State,
  Table,
  toResource,
  useReading,
  When,
} from "tidemark/dashboard";

export const title = "Repositories";
export const example = "github.com/owner/name";

interface Analysed {
  repository: string;
  commit_oid: string;
  analysed_at: string;
  fresh_at: string | null;
  tests: number;
  languages: { language: string; bytes: number }[];
}

const short = (oid: string) => <code title={oid}>{oid.slice(0, 10)}</code>;

export function Page() {
  const [name, setName] = useState("");
  const [shown, show] = useState<string | null>(null);
  const columns: Column<Analysed>[] = [
    {
      head: "repository",
      cell: (row) => (
        <button type="button" class="key" onClick={() => show(row.repository)}>
          {row.repository}
        </button>
      ),
    },
    { head: "languages", cell: (row) => row.languages.map(({ language }) => language).join(", ") },
    { head: "tests", right: true, cell: (row) => figure(row.tests) },
    { head: "commit", cell: (row) => short(row.commit_oid) },
    { head: "analysed", right: true, cell: (row) => <When at={row.analysed_at} /> },
    { head: "true as of", right: true, minor: true, cell: (row) => <When at={row.fresh_at} /> },
  ];
  const wanted = /^[\w.:-]+\/[\w.-]+\/[\w.-]+$/.test(name.trim()) ? name.trim() : shown;
  return (
    <>
      <p class="facts">
        <Narrow label="Look at" hint="github.com/owner/name" value={name} set={setName} />
      </p>
      {wanted && <One key={wanted} repository={wanted} />}
      <Part title="Analysed lately" aside="kept fresh while people look at them">
        <Paged<Analysed>
          name="Repositories analysed lately"
          path="/repositories/recent"
          limit={20}
          columns={columns}
          keyOf={(row) => row.repository}
          empty="Nothing was analysed yet. Ask for a repository above, or follow one."
        />
      </Part>
    </>
  );
}

interface TestFile {
  file: string;
  framework: string;
  cases: { name: string; status: string; suites: string[]; line: number }[];
}

interface Language {
  language: string;
  files: number;
  bytes: number;
  lines: number;
}

interface Manifest {
  file: string;
  ecosystem: string;
  dependencies: { name: string }[];
  left_out: number;
}

interface Report {
  size: { files: number; bytes: number };
  languages: Language[];
  tests: { total_cases: number; total_files: number; files: TestFile[] };
  manifests: Manifest[];
  licence: { spdx: string | null; file: string | null };
  activity: { commits: number; contributors: number; within_days: number };
}

/** The report, or, while there is none, when there will be. */
interface Answer {
  status?: string;
  place?: number | null;
  eta_s?: number | null;
  commit_oid: string;
  analysed_at: string;
  stale: boolean;
  head: { ref: string | null; moved: boolean };
  report?: Report;
}

const FILES_SHOWN = 50;

function One({ repository }: { repository: string }) {
  const path = `/repositories/${repository}`;
  // Somebody looks once; what is read again because something changed is no view.
  const { value, failure, again } = useReading<Answer>(`${path}?view=false`, { keep: true });
  useEffect(() => {
    get(path).catch(() => undefined);
  }, [path]);
  if (failure) return <Failed failure={failure} again={again} />;
  if (!value) return <Loading what={repository} />;
  if (!value.report)
    return (
      <Part title={repository}>
        <p class="facts">
          <State is="due">{value.status ?? "queued"}</State>
          {value.place ? ` · place ${value.place} in line` : ""}
          {value.eta_s ? ` · about ${value.eta_s} s` : ""}
        </p>
      </Part>
    );
  const why = toResource({ source: "repositories", kind: "repository", key: repository });
  return (
    <Part title={repository} aside={<a href={why}>when it is checked next, and why then</a>}>
      <Facts value={value} report={value.report} />
      <Languages rows={value.report.languages} />
      <Tests {...value.report.tests} />
      <Manifests rows={value.report.manifests} />
    </Part>
  );
}

function Facts({ value, report }: { value: Answer; report: Report }) {
  const { activity, licence, size } = report;
  return (
    <p class="facts">
      {value.head.moved || value.stale ? <State is="due">being checked</State> : <State is="fresh">fresh</State>}
      {" · commit "}
      {short(value.commit_oid)}
      {value.head.ref && ` of ${value.head.ref.replace("refs/heads/", "")}`}
      {" · analysed "}
      <When at={value.analysed_at} />
      {` · ${licence.spdx ?? "no licence that we know"} · ${counted(size.files, "file")} · `}
      {`${counted(activity.commits, "commit")} by ${counted(activity.contributors, "person", "people")} within ${activity.within_days} days`}
    </p>
  );
}

function Languages({ rows }: { rows: Language[] }) {
  const bytes = rows.reduce((sum, one) => sum + one.bytes, 0);
  const columns: Column<Language>[] = [
    { head: "language", cell: (row) => row.language },
    { head: "share", cell: (row) => <Bar percent={bytes === 0 ? 0 : (100 * row.bytes) / bytes} /> },
    { head: "files", right: true, cell: (row) => figure(row.files) },
    { head: "lines", right: true, cell: (row) => figure(row.lines) },
  ];
  const empty = "No file in a language that we know.";
  return <Table<Language> name="Languages" rows={rows} keyOf={(row) => row.language} empty={empty} columns={columns} />;
}

const first = ({ cases: [one] }: TestFile): string => (one ? [...one.suites, one.name].join(" › ") : "");

function Tests({ total_cases, total_files, files }: Report["tests"]) {
  const skipped = files.flatMap(({ cases }) => cases).filter(({ status }) => status === "skipped").length;
  const columns: Column<TestFile>[] = [
    { head: "file", cell: (row) => <span class="key">{row.file}</span> },
    { head: "framework", cell: (row) => row.framework },
    { head: "cases", right: true, cell: (row) => figure(row.cases.length) },
    { head: "such as", minor: true, cell: first },
  ];
  const rows = files.slice(0, FILES_SHOWN);
  return (
    <>
      <h3>
        {counted(total_cases, "test")} in {counted(total_files, "file")}
        {skipped > 0 && `, ${figure(skipped)} skipped`}
      </h3>
      <Table<TestFile>
        name="Tests"
        rows={rows}
        keyOf={(row) => row.file}
        empty="No tests were found."
        columns={columns}
      />
    </>
  );
}

function Manifests({ rows }: { rows: Manifest[] }) {
  const columns: Column<Manifest>[] = [
    { head: "manifest", cell: (row) => <span class="key">{row.file}</span> },
    { head: "of", cell: (row) => row.ecosystem },
    { head: "needs", right: true, cell: (row) => figure(row.dependencies.length + row.left_out) },
    {
      head: "such as",
      minor: true,
      cell: (row) =>
        row.dependencies
          .slice(0, 4)
          .map(({ name }) => name)
          .join(", "),
    },
  ];
  const empty = "No manifest that we read.";
  return <Table<Manifest> name="Manifests" rows={rows} keyOf={(row) => row.file} empty={empty} columns={columns} />;
}
