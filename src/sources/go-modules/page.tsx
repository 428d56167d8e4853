/** The page of this source in the dashboard: the feed, what drifted, who disagrees, and the modules. */
import { useState } from "preact/hooks";
import {
  type Column,
  counted,
  Failed,
  figure,
  Narrow,
  Paged,
  Part,
  State,
  toResource,
  useReading,
  When,
} from "tidemark/dashboard";

export const title = "Go modules";
export const example = "github.com/acme";

interface Totals {
  repositories: number;
  modules: number;
  versions: number;
  versions_deleted: number;
  versions_moved: number;
  conflicts: number;
  fresh_at: string | null;
}

interface Version {
  path: string;
  version: string;
  repository: string | null;
  tag: string;
  commit_oid: string;
  published_at: string;
  deleted_at: string | null;
  moved_at: string | null;
}

interface Moved {
  path: string;
  version: string;
  tag: string;
  commit_oid: string;
  moved_oid: string;
  moved_at: string;
  deleted_at: string | null;
}

interface Conflict {
  path: string;
  resource_id: string;
  repository: string | null;
  held_by: string | null;
}

interface Module {
  path: string;
  repository: string | null;
  versions: number;
  newest: { version: string; published_at: string } | null;
}

interface Repository {
  repository: string;
  key: string;
  is_archived: boolean;
  is_private: boolean;
  is_fork: boolean;
  tags: number;
  modules: number;
  versions: number;
  pushed_at: string | null;
  fresh_at: string | null;
}

export function Page() {
  const { value, failure, again } = useReading<Totals>("/go/status");
  return (
    <>
      {failure && <Failed failure={failure} again={again} />}
      {value && (
        <p class="facts">
          {[
            counted(value.versions, "version"),
            counted(value.modules, "module"),
            counted(value.repositories, "repository", "repositories"),
            `${figure(value.versions_moved)} drifted`,
            counted(value.conflicts, "conflict"),
            `${figure(value.versions_deleted)} no longer available`,
          ].join(" · ")}
          {" · "}
          {value.fresh_at === null ? (
            "not everything was looked at yet"
          ) : (
            <>
              true as of <When at={value.fresh_at} />
            </>
          )}
          {" · what pkgsite reads: "}
          <a href="/go/index?limit=100">/go/index</a>
        </p>
      )}
      <Feed />
      <Drift />
      <Conflicts />
      <Modules />
      <Repositories />
    </>
  );
}

const short = (oid: string) => (
  <code class="faint" title={oid}>
    {oid.slice(0, 10)}
  </code>
);

const versions: Column<Version>[] = [
  { head: "module", cell: (row) => <span class="key">{row.path}</span> },
  { head: "version", cell: (row) => <span class="key">{row.version}</span> },
  {
    head: "is",
    cell: (row) => {
      if (row.deleted_at !== null) return <State is="gone">no longer available</State>;
      return row.moved_at === null ? <State is="fresh">available</State> : <State is="due">drifted</State>;
    },
  },
  { head: "commit", minor: true, cell: (row) => short(row.commit_oid) },
  { head: "published", right: true, cell: (row) => <When at={row.published_at} /> },
];

function Feed() {
  const [prefix, setPrefix] = useState("");
  const below = prefix.trim().replace(/\/+$/, "");
  const aside = <Narrow label="Below" hint="github.com/acme" value={prefix} set={setPrefix} />;
  return (
    <Part title="Feed" aside={aside}>
      <Paged<Version>
        name="Versions"
        path="/go/versions"
        query={below === "" ? {} : { prefix: below }}
        limit={15}
        columns={versions}
        keyOf={(row) => `${row.path}@${row.version}`}
        empty={
          below === ""
            ? "No version is published yet: follow an owner such as github.com/acme, and its tags come in here."
            : "No version is below that path; it is compared in whole parts."
        }
      />
    </Part>
  );
}

function Drift() {
  const columns: Column<Moved>[] = [
    { head: "module", cell: (row) => <span class="key">{row.path}</span> },
    { head: "version", cell: (row) => <span class="key">{row.version}</span> },
    { head: "published with", cell: (row) => short(row.commit_oid) },
    { head: "its tag is now at", cell: (row) => short(row.moved_oid) },
    { head: "seen", right: true, cell: (row) => <When at={row.moved_at} /> },
  ];
  return (
    <Part title="Drift" aside="tags that were moved after they were published">
      <Paged<Moved>
        name="Drifted versions"
        path="/go/moved"
        limit={10}
        columns={columns}
        keyOf={(row) => `${row.path}@${row.version}`}
        empty="No tag was moved: every version is still what it was published with."
      />
    </Part>
  );
}

function Conflicts() {
  const columns: Column<Conflict>[] = [
    { head: "module", cell: (row) => <span class="key">{row.path}</span> },
    { head: "declared by", cell: (row) => <span class="key">{row.repository ?? "–"}</span> },
    { head: "but held by", cell: (row) => <span class="key">{row.held_by ?? "nobody that is followed"}</span> },
  ];
  return (
    <Part title="Conflicts" aside="repositories that declare a path that another one has">
      <Paged<Conflict>
        name="Conflicts"
        path="/go/conflicts"
        limit={10}
        columns={columns}
        keyOf={(row) => `${row.path} ${row.resource_id}`}
        empty="No two repositories declare the same module."
      />
    </Part>
  );
}

function Modules() {
  const [q, setQ] = useState("");
  const columns: Column<Module>[] = [
    { head: "module", cell: (row) => <span class="key">{row.path}</span> },
    { head: "versions", right: true, cell: (row) => figure(row.versions) },
    { head: "newest", cell: (row) => <span class="key">{row.newest?.version ?? "–"}</span> },
    { head: "published", right: true, cell: (row) => <When at={row.newest?.published_at ?? null} /> },
    { head: "repository", minor: true, cell: (row) => <span class="key">{row.repository ?? "–"}</span> },
  ];
  return (
    <Part title="Modules" aside={<Narrow label="Search" hint="a part of the path" value={q} set={setQ} />}>
      <Paged<Module>
        name="Modules"
        path="/go/modules"
        query={q.trim() === "" ? {} : { q: q.trim() }}
        limit={10}
        columns={columns}
        keyOf={(row) => row.path}
        empty={q === "" ? "There is none yet." : "No module matches."}
      />
    </Part>
  );
}

function Repositories() {
  const [q, setQ] = useState("");
  const columns: Column<Repository>[] = [
    {
      head: "repository",
      cell: (row) => (
        <a class="key" href={toResource({ source: "go-modules", kind: "repository", key: row.key })}>
          {row.repository}
        </a>
      ),
    },
    { head: "tags", right: true, cell: (row) => figure(row.tags) },
    { head: "modules", right: true, minor: true, cell: (row) => figure(row.modules) },
    { head: "versions", right: true, cell: (row) => figure(row.versions) },
    {
      head: "is",
      minor: true,
      cell: (row) =>
        [row.is_private && "private", row.is_archived && "archived", row.is_fork && "a fork"]
          .filter(Boolean)
          .join(", "),
    },
    { head: "pushed", right: true, minor: true, cell: (row) => <When at={row.pushed_at} /> },
    { head: "fresh", right: true, cell: (row) => <When at={row.fresh_at} never="never" /> },
  ];
  return (
    <Part title="Repositories" aside={<Narrow label="Search" hint="a part of the name" value={q} set={setQ} />}>
      <Paged<Repository>
        name="Repositories"
        path="/go/repositories"
        query={q.trim() === "" ? {} : { q: q.trim() }}
        limit={10}
        columns={columns}
        keyOf={(row) => row.key}
        empty={q === "" ? "There is none yet." : "No repository matches."}
      />
    </Part>
  );
}
