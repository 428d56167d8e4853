/** Who works: each worker with how busy it is, and what it has leases on. */
import type { Lease, WorkerStatus } from "./answers.ts";
import { useReading } from "./reading.ts";
import { toResource } from "./route.ts";
import { Part, State, When } from "./small.tsx";
import { type Column, Table } from "./table.tsx";
import { figure } from "./words.ts";

const LEASES_SHOWN = 3;

export function WorkersPart({ workers }: { workers: WorkerStatus[] }) {
  const { value } = useReading<{ leases: Lease[] }>("/api/leases");
  const leases = value?.leases ?? [];
  const columns: Column<WorkerStatus>[] = [
    {
      head: "worker",
      cell: (row) => (
        <>
          {row.name} {row.stopping && <State is="paused">stopping</State>}
        </>
      ),
    },
    { head: "slots busy", right: true, cell: (row) => `${figure(row.busy)} of ${figure(row.slots)}` },
    {
      head: "leases",
      wide: true,
      cell: (row) => <Leases leases={leases.filter((lease) => lease.worker_id === row.worker_id)} />,
    },
    { head: "started", right: true, minor: true, cell: (row) => <When at={row.started_at} /> },
    { head: "seen", right: true, cell: (row) => <When at={row.seen_at} /> },
  ];
  return (
    <Part title="Workers">
      <Table
        name="Workers"
        columns={columns}
        rows={workers}
        keyOf={(row) => row.worker_id}
        empty={
          <>
            No worker is running, so nothing is pulled. Start <code>tidemark up</code> or <code>tidemark worker</code>.
          </>
        }
      />
    </Part>
  );
}

/** The first few by name, the others by number. */
function Leases({ leases }: { leases: Lease[] }) {
  if (leases.length === 0) return <span class="faint">none at this moment</span>;
  return (
    <>
      {leases.slice(0, LEASES_SHOWN).map((lease, i) => (
        <span key={`${lease.kind} ${lease.key}`}>
          {i > 0 && ", "}
          <a class="key" href={toResource(lease)}>
            {lease.description ?? lease.key}
          </a>
        </span>
      ))}
      {leases.length > LEASES_SHOWN && ` and ${figure(leases.length - LEASES_SHOWN)} more`}
    </>
  );
}
