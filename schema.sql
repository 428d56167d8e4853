-- The whole schema, as the migrations make it: read this, and change those. `npm run schema` writes it anew.

create schema tidemark;

CREATE OR REPLACE FUNCTION tidemark.now()
 RETURNS timestamp with time zone
 LANGUAGE sql
 STABLE PARALLEL SAFE
AS $function$select statement_timestamp()$function$;
comment on function tidemark.now() is 'The one clock. Tests replace it by a function that reads a row.';

create table tidemark.migration (
  owner text not null,
  n integer not null,
  name text not null,
  checksum text not null,
  applied_at timestamptz default now() not null,
  constraint migration_pkey PRIMARY KEY (owner, n)
);
comment on table tidemark.migration is 'Which steps made this schema, with the checksum of their text.';

create table tidemark.upstream (
  upstream text not null,
  closed_until timestamptz,
  closed_reason text,
  strikes integer default 0 not null,
  closed_at timestamptz,
  constraint upstream_pkey PRIMARY KEY (upstream)
);
comment on table tidemark.upstream is 'A remote system to be polite to; lanes of a closed one are not scanned at all.';

create table tidemark.lane (
  lane_id integer generated always as identity not null,
  source text not null,
  name text not null,
  upstream text not null,
  urgency text not null,
  first_come boolean default false not null,
  slots integer,
  fleet integer,
  constraint lane_pkey PRIMARY KEY (lane_id),
  constraint lane_source_name_upstream_urgency_key UNIQUE (source, name, upstream, urgency),
  constraint lane_fleet_check CHECK ((fleet > 0)),
  constraint lane_slots_check CHECK ((slots >= 0)),
  constraint lane_urgency_check CHECK ((urgency = ANY (ARRAY['asked'::text, 'routine'::text]))),
  constraint lane_upstream_fkey FOREIGN KEY (upstream) REFERENCES tidemark.upstream(upstream)
);
comment on column tidemark.lane.slots is 'How many of its pulls may run at once in one worker.';
comment on column tidemark.lane.fleet is 'How many leases may live in this lane over all workers; counted from live leases.';

create table tidemark.resource (
  resource_id bigint generated always as identity not null,
  source text not null,
  kind text not null,
  key text not null,
  options jsonb,
  cursor jsonb,
  generation bigint default 0 not null,
  created_at timestamptz default tidemark.now() not null,
  followed_at timestamptz,
  changed_at timestamptz,
  viewed_at timestamptz,
  paused_at timestamptz,
  parked_at timestamptz,
  gone_at timestamptz,
  reason text,
  error jsonb,
  progress_done bigint,
  progress_total bigint,
  constraint resource_pkey PRIMARY KEY (resource_id),
  constraint resource_source_kind_key_key UNIQUE (source, kind, key),
  constraint resource_key_check CHECK (((length(key) >= 1) AND (length(key) <= 1024)))
);
comment on table tidemark.resource is 'One thing kept fresh. An unchanged refresh does not touch this row.';
CREATE INDEX resource_by_followed ON tidemark.resource USING btree (source, resource_id) WHERE (followed_at IS NOT NULL);
CREATE INDEX resource_by_gone ON tidemark.resource USING btree (gone_at) WHERE (gone_at IS NOT NULL);
CREATE INDEX resource_by_parked ON tidemark.resource USING btree (source, resource_id) WHERE (parked_at IS NOT NULL);
CREATE INDEX resource_by_paused ON tidemark.resource USING btree (source, resource_id) WHERE (paused_at IS NOT NULL);

create table tidemark.due (
  resource_id bigint not null,
  lease_no bigint default 0 not null,
  due_at timestamptz not null,
  not_before timestamptz default '-infinity'::timestamp with time zone not null,
  lease_until timestamptz,
  fresh_at timestamptz,
  tried_at timestamptz,
  asked_at timestamptz,
  mail_seq bigint default 0 not null,
  mail_done bigint default 0 not null,
  lane_id integer not null,
  worker_id integer,
  failures smallint default 0 not null,
  constraint due_pkey PRIMARY KEY (resource_id),
  constraint due_floor CHECK ((due_at >= not_before)),
  constraint due_mail CHECK ((mail_done <= mail_seq)),
  constraint due_resource_id_fkey FOREIGN KEY (resource_id) REFERENCES tidemark.resource(resource_id) ON DELETE CASCADE
) with (autovacuum_analyze_scale_factor=0.05, autovacuum_vacuum_cost_delay=0, autovacuum_vacuum_insert_scale_factor=0.1, autovacuum_vacuum_scale_factor=0.02, fillfactor=70);
comment on table tidemark.due is 'The hot row of a resource. lease_no only ever grows; a commit must name the one it was given.';
comment on column tidemark.due.not_before is 'A floor under due_at that neither refresh nor view overrides; infinity while paused.';
comment on column tidemark.due.asked_at is 'The place in line in a first-come lane; null elsewhere.';
CREATE INDEX due_claim ON tidemark.due USING btree (lane_id, due_at) WHERE (lease_until IS NULL);
CREATE INDEX due_first_come ON tidemark.due USING btree (lane_id, asked_at) WHERE ((lease_until IS NULL) AND (asked_at IS NOT NULL));
CREATE INDEX due_lease ON tidemark.due USING btree (lane_id, lease_until) WHERE (lease_until IS NOT NULL);
CREATE INDEX due_mail ON tidemark.due USING btree (lane_id) WHERE (mail_seq > mail_done);

create table tidemark.edge (
  parent_id bigint not null,
  child_id bigint not null,
  seen_generation bigint not null,
  constraint edge_pkey PRIMARY KEY (parent_id, child_id),
  constraint edge_child_id_fkey FOREIGN KEY (child_id) REFERENCES tidemark.resource(resource_id) ON DELETE CASCADE,
  constraint edge_parent_id_fkey FOREIGN KEY (parent_id) REFERENCES tidemark.resource(resource_id) ON DELETE CASCADE
);
CREATE INDEX edge_by_child ON tidemark.edge USING btree (child_id);

create table tidemark.message (
  resource_id bigint not null,
  seq bigint not null,
  origin_id bigint,
  "position" bigint,
  tries smallint default 0 not null,
  posted_at timestamptz default tidemark.now() not null,
  parked_at timestamptz,
  coalesce_key text,
  payload jsonb not null,
  error jsonb,
  constraint message_pkey PRIMARY KEY (resource_id, seq)
) with (autovacuum_vacuum_cost_delay=0, autovacuum_vacuum_scale_factor=0.02);
CREATE UNIQUE INDEX message_coalesce ON tidemark.message USING btree (resource_id, origin_id, coalesce_key) WHERE ((coalesce_key IS NOT NULL) AND (parked_at IS NULL));
CREATE INDEX message_parked ON tidemark.message USING btree (parked_at) WHERE (parked_at IS NOT NULL);
CREATE INDEX message_pending ON tidemark.message USING btree (origin_id, "position") WHERE ((parked_at IS NULL) AND ("position" IS NOT NULL));

create table tidemark.tidemark (
  resource_id bigint not null,
  internal bigint not null,
  "position" bigint not null,
  anomalies bigint default 0 not null,
  moved_at timestamptz default tidemark.now() not null,
  constraint tidemark_pkey PRIMARY KEY (resource_id),
  constraint tidemark_check CHECK (("position" <= internal)),
  constraint tidemark_resource_id_fkey FOREIGN KEY (resource_id) REFERENCES tidemark.resource(resource_id) ON DELETE CASCADE
);
comment on table tidemark.tidemark is 'Per posting resource: how far it has read (internal), and how far all it posted is handled (position).';

create table tidemark.skip (
  skip_id bigint generated always as identity not null,
  origin_id bigint not null,
  resource_id bigint not null,
  seq bigint not null,
  "position" bigint not null,
  reason text not null,
  skipped_at timestamptz default tidemark.now() not null,
  constraint skip_pkey PRIMARY KEY (skip_id),
  constraint skip_resource_id_seq_key UNIQUE (resource_id, seq)
);
comment on table tidemark.skip is 'A parked message that the tidemark passed, said out loud.';
CREATE INDEX skip_by_origin ON tidemark.skip USING btree (origin_id, "position");

create table tidemark.feed (
  feed text not null,
  last_at timestamptz not null,
  constraint feed_pkey PRIMARY KEY (feed)
);
comment on table tidemark.feed is 'The newest stamp given in each feed. Its row lock is held until commit, so stamps become visible in order.';

create table tidemark.worker (
  worker_id integer generated always as identity not null,
  name text not null,
  role text not null,
  started_at timestamptz default tidemark.now() not null,
  seen_at timestamptz default tidemark.now() not null,
  slots integer not null,
  busy integer default 0 not null,
  stopping boolean default false not null,
  constraint worker_pkey PRIMARY KEY (worker_id)
);

create table tidemark.pull (
  day smallint not null,
  resource_id bigint not null,
  started_at timestamptz not null,
  ms integer not null,
  outcome text not null,
  changed integer default 0 not null,
  reason text,
  error jsonb,
  worker_id integer
) partition by LIST (day);
comment on table tidemark.pull is 'Changed, failed and slow pulls of the last seven days, in eight partitions emptied in turn.';
CREATE INDEX pull_by_resource ON ONLY tidemark.pull USING btree (resource_id, started_at);

create table tidemark.pull_0 partition of tidemark.pull FOR VALUES IN ('0');

create table tidemark.pull_1 partition of tidemark.pull FOR VALUES IN ('1');

create table tidemark.pull_2 partition of tidemark.pull FOR VALUES IN ('2');

create table tidemark.pull_3 partition of tidemark.pull FOR VALUES IN ('3');

create table tidemark.pull_4 partition of tidemark.pull FOR VALUES IN ('4');

create table tidemark.pull_5 partition of tidemark.pull FOR VALUES IN ('5');

create table tidemark.pull_6 partition of tidemark.pull FOR VALUES IN ('6');

create table tidemark.pull_7 partition of tidemark.pull FOR VALUES IN ('7');

create table tidemark.pull_count (
  source text not null,
  kind text not null,
  minute timestamptz not null,
  outcome text not null,
  pulls bigint not null,
  changed bigint not null,
  constraint pull_count_pkey PRIMARY KEY (minute, source, kind, outcome)
);
comment on table tidemark.pull_count is 'How many pulls ended how, by the minute; unchanged pulls leave no other trace.';

create table tidemark.progress (
  lane_id integer not null,
  minute timestamptz not null,
  done bigint not null,
  constraint progress_pkey PRIMARY KEY (lane_id, minute),
  constraint progress_lane_id_fkey FOREIGN KEY (lane_id) REFERENCES tidemark.lane(lane_id)
);
comment on table tidemark.progress is 'Progress made in a lane by the minute: the moving rate behind every ETA.';

create table tidemark.budget (
  budget text not null,
  upstream text not null,
  spent_until timestamptz default '-infinity'::timestamp with time zone not null,
  window_until timestamptz default '-infinity'::timestamp with time zone not null,
  used double precision default 0 not null,
  constraint budget_pkey PRIMARY KEY (budget)
);
comment on table tidemark.budget is 'What was spent of an allowance: spent_until for a pace, used before window_until for a window.';

create view tidemark.status as
 SELECT r.resource_id,
    r.source,
    r.kind,
    r.key,
        CASE
            WHEN r.gone_at IS NOT NULL THEN 'gone'::text
            WHEN r.paused_at IS NOT NULL THEN 'paused'::text
            WHEN d.lease_until > tidemark.now() THEN 'leased'::text
            WHEN r.parked_at IS NOT NULL THEN 'parked'::text
            WHEN d.due_at <= tidemark.now() THEN 'due'::text
            ELSE 'waiting'::text
        END AS status,
    d.due_at,
    d.not_before,
    d.fresh_at,
    d.tried_at,
    r.changed_at,
    d.asked_at,
    d.failures,
    d.lease_no,
    d.lease_until,
    d.worker_id,
    d.lane_id,
    d.mail_seq - d.mail_done AS mail,
    r.followed_at,
    r.viewed_at,
    r.paused_at,
    r.parked_at,
    r.gone_at,
    r.reason,
    r.error,
    r.options,
    r.cursor,
    r.progress_done,
    r.progress_total
   FROM tidemark.resource r
     JOIN tidemark.due d ON d.resource_id = r.resource_id;
