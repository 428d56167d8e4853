/** What workers are pulling at this moment. */
import sql from "sql-template-tag";
import type { Queryable } from "../store/db.ts";

export interface LeaseStatus {
  worker_id: number;
  resource_id: bigint;
  source: string;
  kind: string;
  key: string;
  options: Record<string, unknown> | null;
  tried_at: string | null;
  lease_until: string;
}

const LEASES_MOST = 500;

/** What workers are pulling, the oldest lease of each first. */
export async function readLeases(db: Queryable): Promise<LeaseStatus[]> {
  const { rows } = await db.query<LeaseStatus>(sql`
    select e.worker_id, r.resource_id, r.source, r.kind, r.key, r.options, d.tried_at, e.lease_until
      from tidemark.lease e
      join tidemark.resource r on r.resource_id = e.resource_id
      join tidemark.due d on d.resource_id = e.resource_id
     where e.lease_until > tidemark.now() and e.worker_id is not null
     order by e.worker_id, d.tried_at limit ${LEASES_MOST}`);
  return rows;
}
