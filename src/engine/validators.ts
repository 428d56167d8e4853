/** Asking only for what changed: what upstreams give to recognise an answer by is remembered once the pull that saw it ended fresh. */
import { createHash } from "node:crypto";
import sql from "sql-template-tag";
import type { Answer, FetchRequest, Kind } from "../contract.ts";
import { conditionalHeaders, type Validators, validatorsAfterUnchanged, validatorsOf } from "../outbound/validators.ts";
import type { Queryable, Tx } from "../store/db.ts";

/** What a pull was given anew, by the digest of the address; without either validator, what was remembered is forgotten. */
export type SeenValidators = Map<string, Validators>;

const NONE: Validators = { etag: null, last_modified: null };
const UNCHANGED = 304;

export interface Asking {
  db: Queryable;
  resource_id: bigint;
  kind: Kind;
  seen: SeenValidators;
  now_ms: number;
  send(request: FetchRequest): Promise<Answer>;
}

/** Makes a call conditional on what is remembered for its address, and notes what the answer can be recognised by. */
export async function fetchIfChanged(url: string, request: FetchRequest, asking: Asking): Promise<Answer> {
  const { db, resource_id, kind, seen, now_ms, send } = asking;
  const address = digestOf(url, request);
  const remembered = await read(db, resource_id, address, kind.version ?? 0);
  const answer = await send({ ...request, headers: { ...request.headers, ...conditionalHeaders(remembered ?? NONE) } });
  const { status, headers } = answer;
  if (status === UNCHANGED && remembered) note(validatorsAfterUnchanged(remembered, headers, now_ms));
  else if (status === 200) note(validatorsOf(headers, now_ms));
  return answer;

  function note(now: Validators): void {
    const { etag, last_modified } = remembered ?? NONE;
    if (now.etag === etag && now.last_modified === last_modified) seen.delete(address);
    else seen.set(address, now);
  }
}

/** Another representation of the same address is another thing. */
function digestOf(url: string, { headers = {} }: FetchRequest): string {
  const accepted = Object.entries(headers).filter(([name]) => /^accept/i.test(name));
  return createHash("sha256")
    .update(JSON.stringify([url, accepted.sort()]))
    .digest("base64url");
}

async function read(db: Queryable, resource_id: bigint, address: string, version: number): Promise<Validators | null> {
  const { rows } = await db.query<Validators>(sql`
    select etag, last_modified from tidemark.validator
     where resource_id = ${resource_id}::bigint and address = ${address} and version = ${version}::int`);
  return rows[0] ?? null;
}

export interface Saved {
  resource_id: bigint;
  version: number;
  seen: SeenValidators;
}

/** Saves what pulls saw, with the commit that ended them. */
export async function saveValidators(tx: Tx, saved: Saved[]): Promise<void> {
  const all = saved.flatMap(({ resource_id, version, seen }) =>
    [...seen].map(([address, { etag, last_modified }]) => ({ resource_id, version, address, etag, last_modified })),
  );
  if (all.length === 0) return;
  const kept = all.filter((v) => v.etag !== null || v.last_modified !== null);
  const gone = all.filter((v) => v.etag === null && v.last_modified === null);
  await tx.query(sql`
    insert into tidemark.validator (resource_id, address, version, etag, last_modified)
    select v.resource_id, v.address, v.version, v.etag, v.last_modified
      from unnest(${kept.map((v) => v.resource_id)}::bigint[], ${kept.map((v) => v.address)}::text[], ${kept.map((v) => v.version)}::int[],
                  ${kept.map((v) => v.etag)}::text[], ${kept.map((v) => v.last_modified)}::text[])
           as v(resource_id, address, version, etag, last_modified)
     order by v.resource_id, v.address
    on conflict (resource_id, address) do update
       set version = excluded.version, etag = excluded.etag, last_modified = excluded.last_modified`);
  if (gone.length === 0) return;
  await tx.query(sql`
    delete from tidemark.validator v
     using unnest(${gone.map((v) => v.resource_id)}::bigint[], ${gone.map((v) => v.address)}::text[]) as g(resource_id, address)
     where v.resource_id = g.resource_id and v.address = g.address`);
}

/** For resources that begin anew: "unchanged" would leave an empty mirror empty. */
export async function forgetValidators(tx: Queryable, ids: bigint[]): Promise<void> {
  await tx.query(sql`delete from tidemark.validator where resource_id = any(${ids}::bigint[])`);
}
