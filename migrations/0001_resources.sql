-- What is kept fresh, when it falls due, and who may work on it: the whole state of the engine.
--
-- Read it in this order. A `resource` is one thing kept fresh; its cold facts (cursor, options, what went wrong)
-- are written only when they change. Its hot facts live in `due`, one narrow row each: when it falls due, who holds
-- the lease and under which number, how fresh it is. A worker claims due rows lane by lane; `lane` and `upstream`
-- are small. `hold` lists what each claim took, so that the leases of the dead are found. `edge` says which resource brought forth which. `message` is the ordered inbox of a resource, and
-- `tidemark` how far everything that one resource posted has been handled. `feed` numbers what is published.
-- All times come from tidemark.now(), so that no worker's clock decides anything.
--
-- Lock order, in every transaction: due rows by id, new resources by (source, kind, key), message, records, feed,
-- tidemark. A transaction that meets a deadlock all the same is run again from its beginning.

create function tidemark.now() returns timestamptz
  language sql stable parallel safe
  as 'select statement_timestamp()';

comment on function tidemark.now() is 'The one clock. Tests replace it by a function that reads a row.';

create table tidemark.upstream (
  upstream text primary key,
  closed_until timestamptz,
  closed_reason text,
  strikes int not null default 0,
  closed_at timestamptz
);

comment on table tidemark.upstream is 'A remote system to be polite to; lanes of a closed one are not scanned at all.';

create table tidemark.lane (
  lane_id int generated always as identity primary key,
  source text not null,
  name text not null,
  upstream text not null references tidemark.upstream,
  urgency text not null check (urgency in ('asked', 'routine')),
  first_come boolean not null default false,
  slots int check (slots >= 0),
  fleet int check (fleet > 0),
  unique (source, name, upstream, urgency)
);

comment on column tidemark.lane.slots is 'How many of its pulls may run at once in one worker.';
comment on column tidemark.lane.fleet is 'How many leases may live in this lane over all workers; counted from live leases.';

create table tidemark.resource (
  resource_id bigint generated always as identity primary key,
  source text not null,
  kind text not null,
  key text not null check (length(key) between 1 and 1024),
  options jsonb,
  cursor jsonb,
  generation bigint not null default 0,
  created_at timestamptz not null default tidemark.now(),
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
  unique (source, kind, key)
);

comment on table tidemark.resource is 'One thing kept fresh. An unchanged refresh does not touch this row.';

create index resource_by_followed on tidemark.resource (source, resource_id) where followed_at is not null;
create index resource_by_parked on tidemark.resource (source, resource_id) where parked_at is not null;
create index resource_by_paused on tidemark.resource (source, resource_id) where paused_at is not null;
create index resource_by_gone on tidemark.resource (gone_at) where gone_at is not null;

-- No foreign key: looking whether it still holds would cost every refresh a twentieth. Whoever deletes a resource deletes both.
create table tidemark.due (
  resource_id bigint primary key,
  lease_no bigint not null default 0,
  due_at timestamptz not null,
  not_before timestamptz not null default '-infinity',
  lease_until timestamptz,
  fresh_at timestamptz,
  tried_at timestamptz,
  asked_at timestamptz,
  mail_seq bigint not null default 0,
  mail_done bigint not null default 0,
  lane_id int not null,
  worker_id int,
  failures smallint not null default 0,
  constraint due_floor check (due_at >= not_before),
  constraint due_mail check (mail_done <= mail_seq)
) with (
  fillfactor = 70,
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_insert_scale_factor = 0.1,
  autovacuum_analyze_scale_factor = 0.05,
  autovacuum_vacuum_cost_delay = 0
);

comment on table tidemark.due is 'The hot row of a resource. lease_no only ever grows; a commit must name the one it was given.';
comment on column tidemark.due.not_before is 'A floor under due_at that neither refresh nor view overrides; infinity while paused.';
comment on column tidemark.due.asked_at is 'The place in line in a first-come lane; null elsewhere.';

-- Claims scan this one from a low-water mark. No index mentions the lease: a claim is a heap-only update, which costs half.
create index due_claim on tidemark.due (lane_id, due_at);
create index due_first_come on tidemark.due (lane_id, asked_at) where asked_at is not null;

-- Who has mail, for back-pressure and for status.
create index due_mail on tidemark.due (lane_id) where mail_seq > mail_done;

create table tidemark.hold (
  hold_id bigint generated always as identity primary key,
  lane_id int not null,
  until timestamptz not null,
  resource_ids bigint[] not null,
  lease_nos bigint[] not null
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);

comment on table tidemark.hold is 'The leases of one claim in one lane: where to look for those of the dead. A list only; whether a lease lives says tidemark.due.';

-- Numbers that hardly compress: trying costs more than it saves.
alter table tidemark.hold alter column resource_ids set storage external;
alter table tidemark.hold alter column lease_nos set storage external;
create index hold_by_until on tidemark.hold (until);
create index hold_by_lane on tidemark.hold (lane_id);

-- The leases there are, found through their holds: few among many rows.
create view tidemark.lease as
select d.resource_id, d.lease_no, d.lease_until, d.worker_id, h.lane_id
  from tidemark.hold h
 cross join lateral unnest(h.resource_ids, h.lease_nos) as l(resource_id, lease_no)
  join tidemark.due d on d.resource_id = l.resource_id and d.lease_no = l.lease_no and d.lease_until is not null;

create table tidemark.edge (
  parent_id bigint not null references tidemark.resource on delete cascade,
  child_id bigint not null references tidemark.resource on delete cascade,
  seen_generation bigint not null,
  primary key (parent_id, child_id)
);

create index edge_by_child on tidemark.edge (child_id);

-- No foreign key: checking one would lock the resource's row for each of a million messages.
create table tidemark.message (
  resource_id bigint not null,
  seq bigint not null,
  origin_id bigint,
  position bigint,
  tries smallint not null default 0,
  posted_at timestamptz not null default tidemark.now(),
  parked_at timestamptz,
  coalesce_key text,
  payload jsonb not null,
  error jsonb,
  primary key (resource_id, seq)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);

create index message_pending on tidemark.message (origin_id, position) where parked_at is null and position is not null;
create unique index message_coalesce on tidemark.message (resource_id, origin_id, coalesce_key) where coalesce_key is not null and parked_at is null;
create index message_parked on tidemark.message (parked_at) where parked_at is not null;

create table tidemark.tidemark (
  resource_id bigint primary key references tidemark.resource on delete cascade,
  internal bigint not null,
  position bigint not null,
  anomalies bigint not null default 0,
  moved_at timestamptz not null default tidemark.now(),
  check (position <= internal)
);

comment on table tidemark.tidemark is 'Per posting resource: how far it has read (internal), and how far all it posted is handled (position).';

create table tidemark.skip (
  skip_id bigint generated always as identity primary key,
  origin_id bigint not null,
  resource_id bigint not null,
  seq bigint not null,
  position bigint not null,
  reason text not null,
  skipped_at timestamptz not null default tidemark.now(),
  unique (resource_id, seq)
);

comment on table tidemark.skip is 'A parked message that the tidemark passed, said out loud.';

create index skip_by_origin on tidemark.skip (origin_id, position);

create table tidemark.feed (
  feed text primary key,
  last_at timestamptz not null
);

comment on table tidemark.feed is 'The newest stamp given in each feed. Its row lock is held until commit, so stamps become visible in order.';

create table tidemark.worker (
  worker_id int generated always as identity primary key,
  name text not null,
  role text not null,
  started_at timestamptz not null default tidemark.now(),
  seen_at timestamptz not null default tidemark.now(),
  slots int not null,
  busy int not null default 0,
  stopping boolean not null default false
);

create table tidemark.pull (
  day smallint not null,
  resource_id bigint not null,
  started_at timestamptz not null,
  ms int not null,
  outcome text not null,
  changed int not null default 0,
  reason text,
  error jsonb,
  worker_id int
) partition by list (day);

comment on table tidemark.pull is 'Changed, failed and slow pulls of the last seven days, in eight partitions emptied in turn.';

create table tidemark.pull_0 partition of tidemark.pull for values in (0);
create table tidemark.pull_1 partition of tidemark.pull for values in (1);
create table tidemark.pull_2 partition of tidemark.pull for values in (2);
create table tidemark.pull_3 partition of tidemark.pull for values in (3);
create table tidemark.pull_4 partition of tidemark.pull for values in (4);
create table tidemark.pull_5 partition of tidemark.pull for values in (5);
create table tidemark.pull_6 partition of tidemark.pull for values in (6);
create table tidemark.pull_7 partition of tidemark.pull for values in (7);
create index pull_by_resource on tidemark.pull (resource_id, started_at);

create table tidemark.pull_count (
  source text not null,
  kind text not null,
  minute timestamptz not null,
  outcome text not null,
  pulls bigint not null,
  changed bigint not null,
  primary key (minute, source, kind, outcome)
);

comment on table tidemark.pull_count is 'How many pulls ended how, by the minute; unchanged pulls leave no other trace.';

create table tidemark.progress (
  lane_id int not null references tidemark.lane,
  minute timestamptz not null,
  done bigint not null,
  primary key (lane_id, minute)
);

comment on table tidemark.progress is 'Progress made in a lane by the minute: the moving rate behind every ETA.';

create table tidemark.budget (
  budget text primary key,
  upstream text not null,
  spent_until timestamptz not null default '-infinity',
  window_until timestamptz not null default '-infinity',
  used double precision not null default 0
);

comment on table tidemark.budget is 'What was spent of an allowance: spent_until for a pace, used before window_until for a window.';

-- A resource's status is derived here and nowhere stored, so it cannot drift.
create view tidemark.status as
select r.resource_id, r.source, r.kind, r.key,
       case
         when r.gone_at is not null then 'gone'
         when r.paused_at is not null then 'paused'
         when d.lease_until > tidemark.now() then 'leased'
         when r.parked_at is not null then 'parked'
         when d.due_at <= tidemark.now() then 'due'
         else 'waiting'
       end as status,
       d.due_at, d.not_before, d.fresh_at, d.tried_at, r.changed_at, d.asked_at, d.failures,
       d.lease_no, d.lease_until, d.worker_id, d.lane_id, d.mail_seq - d.mail_done as mail,
       r.followed_at, r.viewed_at, r.paused_at, r.parked_at, r.gone_at, r.reason, r.error,
       r.options, r.cursor, r.progress_done, r.progress_total
  from tidemark.resource r
  join tidemark.due d on d.resource_id = r.resource_id;
