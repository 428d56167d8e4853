-- The whole schema, as the migrations make it: read this, and change those. `npm run schema` writes it anew.

create schema tidemark;

create schema github_issues;
comment on schema github_issues is 'Issues of repositories of GitHub, to be found by words and by meaning.';

create schema go_modules;
comment on schema go_modules is 'Go modules in repositories of GitHub, for a feed such as index.golang.org.';

create schema nuget;

create schema repositories;

create schema web;

CREATE OR REPLACE FUNCTION tidemark.now()
 RETURNS timestamp with time zone
 LANGUAGE sql
 STABLE PARALLEL SAFE
AS $function$select statement_timestamp()$function$;
comment on function tidemark.now() is 'The one clock. Tests replace it by a function that reads a row.';

CREATE OR REPLACE FUNCTION tidemark.has_room(in_lane integer)
 RETURNS boolean
 LANGUAGE sql
 STABLE
AS $function$
    select l.fleet is null or l.fleet > (
             select count(e.resource_id)
               from tidemark.lane p join tidemark.lease e on e.lane_id = p.lane_id and e.lease_until > tidemark.now()
              where (p.source, p.name, p.upstream) = (l.source, l.name, l.upstream))
      from tidemark.lane l where l.lane_id = in_lane
  $function$;
comment on function tidemark.has_room(in_lane integer) is 'Whether a lane has no bound, or room below it: a glance, which the claim repeats behind the lane''s lock.';

CREATE OR REPLACE FUNCTION github_issues.words(text text)
 RETURNS tsvector
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$ select to_tsvector('pg_catalog.english', translate(text, './\_:@#=-()[]{}<>`', '                  ')) $function$;
comment on function github_issues.words(text text) is 'The words of a text, identifiers in their parts.';

CREATE OR REPLACE FUNCTION github_issues.query(text text)
 RETURNS tsquery
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$ select coalesce((select string_agg(quote_literal(u.lexeme), ' & ')::tsquery from unnest(github_issues.words(text)) u), ''::tsquery) $function$;
comment on function github_issues.query(text text) is 'All words of a text.';

CREATE OR REPLACE FUNCTION go_modules.repository_left()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  update go_modules.version set deleted_at = tidemark.now() where resource_id = old.resource_id and deleted_at is null;
  return null;
end $function$;
comment on function go_modules.repository_left() is 'Versions outlive their repository, so that the feed never shrinks: they are only no longer available.';

CREATE OR REPLACE FUNCTION web.findable(g web.guestbook)
 RETURNS boolean
 LANGUAGE sql
 STABLE
RETURN (((g).content_hash IS NOT NULL) AND (NOT (g).noindex) AND (((g).canonical IS NULL) OR (NOT (EXISTS (SELECT 1 FROM web.guestbook t WHERE ((t.host_id = (findable.g).host_id) AND (t.path = (findable.g).canonical) AND (t.page_id <> (findable.g).page_id) AND (t.content_hash IS NOT NULL) AND (NOT t.noindex) AND ((t.canonical IS NULL) OR (t.canonical = t.path))))))) AND (NOT (EXISTS (SELECT 1 FROM web.guestbook o WHERE ((o.host_id = (findable.g).host_id) AND (o.content_hash = (findable.g).content_hash) AND (o.page_id < (findable.g).page_id) AND (NOT o.noindex) AND ((o.canonical IS NULL) OR (o.canonical = o.path)))))));

CREATE OR REPLACE FUNCTION web.words_of(tags integer[], texts text[], page_text text)
 RETURNS tsvector
 LANGUAGE sql
 STABLE
RETURN (SELECT (((setweight(to_tsvector('english'::regconfig, COALESCE("left"(string_agg(x.content, ' '::text ORDER BY x.n) FILTER (WHERE (t.weight = 'A'::"char")), 20000), ''::text)), 'A'::"char") || setweight(to_tsvector('english'::regconfig, COALESCE("left"(string_agg(x.content, ' '::text ORDER BY x.n) FILTER (WHERE (t.weight = 'B'::"char")), 50000), ''::text)), 'B'::"char")) || setweight(to_tsvector('english'::regconfig, COALESCE("left"(string_agg(x.content, ' '::text ORDER BY x.n) FILTER (WHERE (t.weight = 'C'::"char")), 50000), ''::text)), 'C'::"char")) || setweight(to_tsvector('english'::regconfig, COALESCE("left"(concat_ws(' '::text, translate(words_of.page_text, '<>'::text, '  '::text), string_agg(x.content, ' '::text ORDER BY x.n) FILTER (WHERE (t.weight = 'D'::"char"))), 400000), ''::text)), 'D'::"char")) FROM ((SELECT u.tag_id, translate(u.said, '<>'::text, '  '::text) AS content, u.n FROM UNNEST(words_of.tags, words_of.texts) WITH ORDINALITY u(tag_id, said, n)) x JOIN web.tag t ON ((t.tag_id = x.tag_id))) WHERE (x.tag_id <> 23));

CREATE OR REPLACE FUNCTION web.forget_pages()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  delete from web.content c using old_pages o where c.page_id = o.page_id;
  delete from web.search s using old_pages o where s.domain64 = o.domain64 and s.page_id = o.page_id;
  return null;
end $function$;

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
  breaker text default 'closed'::text not null,
  breaker_no bigint default 0 not null,
  failing bigint[] default '{}'::bigint[] not null,
  well_by bigint,
  well_at timestamptz,
  other_well_at timestamptz,
  struck_at timestamptz,
  asked_until timestamptz,
  asked_reason text,
  constraint upstream_pkey PRIMARY KEY (upstream),
  constraint upstream_breaker_check CHECK ((breaker = ANY (ARRAY['closed'::text, 'open'::text, 'probing'::text])))
);
comment on table tidemark.upstream is 'A remote system to be polite to; lanes of a closed one are not scanned at all.';
comment on column tidemark.upstream.strikes is 'How often we were put off without being told for how long; each doubles the wait.';
comment on column tidemark.upstream.breaker_no is 'Raised with each change: whoever changes it names the one that he saw.';
comment on column tidemark.upstream.failing is 'Resources that failed here since anybody succeeded; three different ones open the breaker.';
comment on column tidemark.upstream.other_well_at is 'When a resource other than well_by last succeeded here.';
comment on column tidemark.upstream.asked_until is 'Until when the upstream itself asked us to wait; it holds whatever becomes of the breaker.';

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
  floor_at timestamptz,
  emptied_at timestamptz,
  constraint resource_pkey PRIMARY KEY (resource_id),
  constraint resource_source_kind_key_key UNIQUE (source, kind, key),
  constraint resource_key_check CHECK (((length(key) >= 1) AND (length(key) <= 1024)))
);
comment on table tidemark.resource is 'One thing kept fresh. An unchanged refresh does not touch this row.';
comment on column tidemark.resource.floor_at is 'The floor that the hot row had, or was given, while it is paused: resuming puts it back.';
comment on column tidemark.resource.emptied_at is 'When the last of its records was deleted; it counts while it is not before gone_at.';
CREATE INDEX resource_by_followed ON tidemark.resource USING btree (source, resource_id) WHERE (followed_at IS NOT NULL);
CREATE INDEX resource_by_gone ON tidemark.resource USING btree (gone_at) WHERE (gone_at IS NOT NULL);
CREATE INDEX resource_by_parked ON tidemark.resource USING btree (source, resource_id) WHERE (parked_at IS NOT NULL);
CREATE INDEX resource_by_paused ON tidemark.resource USING btree (source, resource_id) WHERE (paused_at IS NOT NULL);
CREATE INDEX resource_to_empty ON tidemark.resource USING btree (gone_at, resource_id) WHERE ((gone_at IS NOT NULL) AND ((emptied_at IS NULL) OR (emptied_at < gone_at)));

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
  constraint due_mail CHECK ((mail_done <= mail_seq))
) with (autovacuum_analyze_scale_factor=0.05, autovacuum_vacuum_cost_delay=0, autovacuum_vacuum_insert_scale_factor=0.1, autovacuum_vacuum_scale_factor=0.02, fillfactor=70);
comment on table tidemark.due is 'The hot row of a resource. lease_no only ever grows; a commit must name the one it was given.';
comment on column tidemark.due.not_before is 'A floor under due_at that neither refresh nor view overrides; infinity while paused.';
comment on column tidemark.due.asked_at is 'The place in line in a first-come lane; null elsewhere.';
CREATE INDEX due_claim ON tidemark.due USING btree (lane_id, due_at);
CREATE INDEX due_first_come ON tidemark.due USING btree (lane_id, asked_at) WHERE (asked_at IS NOT NULL);
CREATE INDEX due_mail ON tidemark.due USING btree (lane_id) WHERE (mail_seq > mail_done);

create table tidemark.hold (
  hold_id bigint generated always as identity not null,
  lane_id integer not null,
  until timestamptz not null,
  resource_ids bigint[] not null,
  lease_nos bigint[] not null,
  constraint hold_pkey PRIMARY KEY (hold_id)
) with (autovacuum_vacuum_cost_delay=0, autovacuum_vacuum_scale_factor=0.02);
comment on table tidemark.hold is 'The leases of one claim in one lane: where to look for those of the dead. A list only; whether a lease lives says tidemark.due.';
alter table tidemark.hold alter column resource_ids set storage external;
alter table tidemark.hold alter column lease_nos set storage external;
CREATE INDEX hold_by_lane ON tidemark.hold USING btree (lane_id);
CREATE INDEX hold_by_until ON tidemark.hold USING btree (until);

create view tidemark.lease as
 SELECT d.resource_id,
    d.lease_no,
    d.lease_until,
    d.worker_id,
    h.lane_id
   FROM tidemark.hold h
     CROSS JOIN LATERAL UNNEST(h.resource_ids, h.lease_nos) l(resource_id, lease_no)
     JOIN tidemark.due d ON d.resource_id = l.resource_id AND d.lease_no = l.lease_no AND d.lease_until IS NOT NULL;

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

create table tidemark.budget (
  budget text not null,
  upstream text not null,
  shape text not null,
  room double precision not null,
  per_ms double precision default 0 not null,
  period_ms double precision default 0 not null,
  life_ms double precision not null,
  share text[] not null,
  reserved double precision[] not null,
  capacity double precision[] not null,
  at timestamptz default tidemark.now() not null,
  level double precision[] not null,
  lent double precision default 0 not null,
  window_no bigint default 0 not null,
  window_until timestamptz default '-infinity'::timestamp with time zone not null,
  said_room double precision,
  foreign_used double precision default 0 not null,
  free_at timestamptz default '-infinity'::timestamp with time zone not null,
  closed_until timestamptz,
  closed_reason text,
  closed_at timestamptz,
  strikes integer default 0 not null,
  total double precision default 0 not null,
  refused_at timestamptz[] not null,
  refused_ms double precision[] not null,
  burst double precision,
  out_share integer[] default '{}'::integer[] not null,
  out_units double precision[] default '{}'::double precision[] not null,
  out_until timestamptz[] default '{}'::timestamp with time zone[] not null,
  told boolean default false not null,
  constraint budget_pkey PRIMARY KEY (budget),
  constraint budget_out CHECK (((cardinality(out_share) = cardinality(out_units)) AND (cardinality(out_share) = cardinality(out_until)))),
  constraint budget_shape_check CHECK ((shape = ANY (ARRAY['pace'::text, 'window'::text, 'gap'::text, 'flights'::text, 'account'::text]))),
  constraint budget_shares CHECK (((cardinality(share) = cardinality(reserved)) AND (cardinality(share) = cardinality(capacity)) AND (cardinality(share) = cardinality(level)) AND (cardinality(share) = cardinality(refused_at)) AND (cardinality(share) = cardinality(refused_ms))))
) with (autovacuum_vacuum_cost_delay=0, autovacuum_vacuum_scale_factor=0.02, fillfactor=50);
comment on table tidemark.budget is 'One allowance over all workers, with a bucket for each share; the last share, '''', is of calls that name none.';
comment on column tidemark.budget.room is 'pace: what all buckets hold together; window: what may be spent in it; flights, gap: how many at once.';
comment on column tidemark.budget.level is 'pace: what is in each share''s bucket; window: what each share has spent and counts still.';
comment on column tidemark.budget.lent is 'pace: what overflowed from full buckets and anybody may take.';
comment on column tidemark.budget.foreign_used is 'window: what the upstream counted and we did not spend.';
comment on column tidemark.budget.burst is 'pace: as declared; buckets and what is out are never more together.';
comment on column tidemark.budget.out_units is 'What was drawn of late, by share, and counts until out_until.';
comment on column tidemark.budget.told is 'window: the upstream said when this window ends; then what was spent in it is over, too.';
CREATE INDEX budget_by_upstream ON tidemark.budget USING btree (upstream);

create table tidemark.flight (
  flight_id bigint generated always as identity not null,
  budget text not null,
  until timestamptz not null,
  constraint flight_pkey PRIMARY KEY (flight_id)
) with (autovacuum_vacuum_cost_delay=0, autovacuum_vacuum_scale_factor=0.02);
comment on table tidemark.flight is 'A call that is out now, under a bound on calls at once; renewed by its worker, or over when it ends.';
CREATE INDEX flight_by_budget ON tidemark.flight USING btree (budget, until);

create table tidemark.credential (
  host text not null,
  digest text not null,
  account text,
  revoked_at timestamptz,
  seen_at timestamptz default tidemark.now() not null,
  constraint credential_pkey PRIMARY KEY (host, digest)
);
comment on table tidemark.credential is 'Whose account a token is, by a keyed digest of the token; never the token.';

create table tidemark.digest_key (
  one boolean default true not null,
  key text not null,
  constraint digest_key_pkey PRIMARY KEY (one),
  constraint digest_key_one_check CHECK (one)
);
comment on table tidemark.digest_key is 'What tokens are digested with: digests of two installations cannot be compared.';

create table tidemark.validator (
  resource_id bigint not null,
  address text not null,
  version integer not null,
  etag text,
  last_modified text,
  constraint validator_pkey PRIMARY KEY (resource_id, address),
  constraint validator_resource_id_fkey FOREIGN KEY (resource_id) REFERENCES tidemark.resource(resource_id) ON DELETE CASCADE
);
comment on table tidemark.validator is 'ETag and Last-Modified of what a resource was last mirrored from.';
comment on column tidemark.validator.version is 'Of the kind whose code made the records: another version does not call them unchanged.';

create table tidemark.freshness (
  source text not null,
  minute timestamptz not null,
  fresh_percent double precision,
  due bigint not null,
  constraint freshness_pkey PRIMARY KEY (minute, source)
);
comment on table tidemark.freshness is 'Noted once a minute by whoever keeps house, for seven days: what the dashboard draws.';
comment on column tidemark.freshness.fresh_percent is 'Null while nothing is followed.';

create table github_issues.repository (
  resource_id bigint not null,
  host text not null,
  node_id text not null,
  name text not null,
  is_private boolean not null,
  is_archived boolean not null,
  is_disabled boolean not null,
  has_issues boolean not null,
  is_hidden boolean not null,
  seen_by text,
  issues integer not null,
  newest text not null,
  initialised_at timestamptz,
  constraint repository_pkey PRIMARY KEY (resource_id),
  constraint repository_host_node_id_key UNIQUE (host, node_id)
);
comment on table github_issues.repository is 'A repository, by the id that it keeps when it is renamed or transferred.';
comment on column github_issues.repository.is_hidden is 'Nobody of us sees it any more: nothing of it is shown.';
comment on column github_issues.repository.issues is 'How many issues GitHub counted last.';
comment on column github_issues.repository.newest is 'What its newest issues looked like when it was last read to the end.';
comment on column github_issues.repository.initialised_at is 'When its past had been read for the first time; null before.';
CREATE INDEX repository_by_name ON github_issues.repository USING btree (lower(name), host);

create table github_issues.issue (
  resource_id bigint not null,
  number integer not null,
  node_id text not null,
  title text not null,
  body text not null,
  state text not null,
  state_reason text,
  author text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  closed_at timestamptz,
  label_ids text[] not null,
  comments integer not null,
  comments_after text,
  labels_after text,
  reactions integer default 0 not null,
  search tsvector generated always as ((setweight(github_issues.words(title), 'A'::"char") || setweight(github_issues.words(body), 'B'::"char"))) stored not null,
  constraint issue_pkey PRIMARY KEY (resource_id, number)
);
comment on column github_issues.issue.comments is 'How many comments GitHub counted.';
comment on column github_issues.issue.comments_after is 'Behind which the comments that are not mirrored yet begin; empty is the beginning, null that none is missing.';
comment on column github_issues.issue.reactions is 'As a sweep counted them.';
CREATE INDEX issue_by_author ON github_issues.issue USING btree (lower(author));
CREATE INDEX issue_by_creation ON github_issues.issue USING btree (resource_id, created_at);
CREATE INDEX issue_by_update ON github_issues.issue USING btree (resource_id, updated_at DESC, number);
CREATE INDEX issue_labels ON github_issues.issue USING gin (label_ids);
CREATE INDEX issue_newest ON github_issues.issue USING btree (updated_at DESC, resource_id, number);
CREATE INDEX issue_search ON github_issues.issue USING gin (search);
CREATE INDEX issue_unread ON github_issues.issue USING btree (resource_id, number) WHERE ((comments_after IS NOT NULL) OR (labels_after IS NOT NULL));

create table github_issues.comment (
  comment_id text not null,
  resource_id bigint not null,
  number integer not null,
  author text,
  association text,
  body text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  search tsvector generated always as (github_issues.words(body)) stored not null,
  constraint comment_pkey PRIMARY KEY (comment_id)
);
CREATE INDEX comment_by_issue ON github_issues.comment USING btree (resource_id, number, created_at);
CREATE INDEX comment_search ON github_issues.comment USING gin (search);

create table github_issues.label (
  label_id text not null,
  resource_id bigint not null,
  name text not null,
  color text,
  constraint label_pkey PRIMARY KEY (label_id)
);
CREATE INDEX label_by_name ON github_issues.label USING btree (lower(name));
CREATE INDEX label_by_resource ON github_issues.label USING btree (resource_id);

create table github_issues.passage (
  resource_id bigint not null,
  number integer not null,
  tokens_most integer not null,
  part integer not null,
  hash text collate "C" not null,
  tokens integer not null,
  text text not null,
  written_at timestamptz default tidemark.now() not null,
  constraint passage_pkey PRIMARY KEY (resource_id, number, tokens_most, part)
);
comment on table github_issues.passage is 'A part of an issue as a model reads it: its title, and as much of the rest as fits.';
CREATE INDEX passage_by_hash ON github_issues.passage USING btree (hash);
CREATE INDEX passage_written ON github_issues.passage USING btree (written_at);

create table github_issues.generation (
  generation integer generated always as identity not null,
  model text not null,
  tokens_most integer not null,
  dimensions integer,
  created_at timestamptz default tidemark.now() not null,
  completed_at timestamptz,
  retired_at timestamptz,
  constraint generation_pkey PRIMARY KEY (generation),
  constraint generation_model_tokens_most_key UNIQUE (model, tokens_most)
);
comment on table github_issues.generation is 'Vectors of one model; those of two are never compared.';

create table github_issues.vector (
  generation integer not null,
  hash text collate "C" not null,
  vector real[] not null,
  code bytea not null,
  written_at timestamptz default tidemark.now() not null,
  constraint vector_pkey PRIMARY KEY (generation, hash)
);
comment on column github_issues.vector.code is 'The same in whole numbers from -127 to 127, for comparing many.';
CREATE INDEX vector_written ON github_issues.vector USING btree (generation, written_at);

create table github_issues.unembedded (
  generation integer not null,
  hash text collate "C" not null,
  resource_id bigint not null,
  number integer not null,
  tokens integer not null,
  tries integer default 0 not null,
  retry_at timestamptz default '-infinity'::timestamp with time zone not null,
  reason text,
  constraint unembedded_pkey PRIMARY KEY (generation, hash)
);
comment on table github_issues.unembedded is 'Texts that have no vector of this generation yet, known by what they say and not by when they were written.';
CREATE INDEX unembedded_by_resource ON github_issues.unembedded USING btree (resource_id);
CREATE INDEX unembedded_next ON github_issues.unembedded USING btree (generation, retry_at, resource_id);

create table go_modules.repository (
  resource_id bigint not null,
  host text not null,
  node_id text not null,
  name text not null,
  root text not null,
  pushed_at timestamptz,
  head_oid text,
  is_fork boolean not null,
  is_archived boolean not null,
  is_disabled boolean not null,
  is_private boolean not null,
  has_go boolean not null,
  tags integer not null,
  listing_no bigint not null,
  seen_by text,
  constraint repository_pkey PRIMARY KEY (resource_id),
  constraint repository_host_node_id_key UNIQUE (host, node_id)
);
comment on table go_modules.repository is 'A repository, by the id that it keeps when it is renamed or transferred.';
comment on column go_modules.repository.root is 'The module path of its root where no go.mod says otherwise: its name when it was first seen.';
comment on column go_modules.repository.tags is 'How many tags GitHub counted when they were last listed whole and everything that follows was written; -1 until then.';
comment on column go_modules.repository.listing_no is 'The period in which its tags were last listed whole; -1 before.';
comment on column go_modules.repository.seen_by is 'The account that listed its tags last; null before.';
CREATE INDEX repository_by_name ON go_modules.repository USING btree ((((host || '/'::text) || name)) COLLATE "C", resource_id);
CREATE TRIGGER repository_left AFTER DELETE ON go_modules.repository FOR EACH ROW EXECUTE FUNCTION go_modules.repository_left();

create table go_modules.tag (
  resource_id bigint not null,
  name text collate "C" not null,
  oid text not null,
  commit_oid text,
  constraint tag_pkey PRIMARY KEY (resource_id, name)
);
comment on column go_modules.tag.commit_oid is 'The commit that it stands for, peeled; null where it stands for something else.';

create table go_modules.seen (
  resource_id bigint not null,
  name text collate "C" not null,
  constraint seen_pkey PRIMARY KEY (resource_id, name)
);

create table go_modules.gomod (
  resource_id bigint not null,
  commit_oid text not null,
  dir text collate "C" not null,
  module_path text,
  constraint gomod_pkey PRIMARY KEY (resource_id, commit_oid, dir)
);
comment on column go_modules.gomod.module_path is 'What it declares, empty where that cannot be read; null where there is no go.mod.';

create table go_modules.module (
  path text collate "C" not null,
  resource_id bigint not null,
  at_home boolean not null,
  constraint module_pkey PRIMARY KEY (path)
);
comment on table go_modules.module is 'Which repository a module path belongs to; the others that declare it are in conflict.';
comment on column go_modules.module.at_home is 'The path is that of the repository itself or below it.';
CREATE INDEX module_by_resource ON go_modules.module USING btree (resource_id);

create table go_modules.conflict (
  path text collate "C" not null,
  resource_id bigint not null,
  held_by bigint,
  constraint conflict_pkey PRIMARY KEY (path, resource_id)
);
comment on table go_modules.conflict is 'A repository that declares a path which belongs to another; its versions are not published.';
comment on column go_modules.conflict.held_by is 'The repository that has it; null where that is none that is followed.';
CREATE INDEX conflict_by_resource ON go_modules.conflict USING btree (resource_id);

create table go_modules.version (
  path text collate "C" not null,
  version text collate "C" not null,
  resource_id bigint not null,
  tag text not null,
  commit_oid text not null,
  published_at timestamptz not null,
  deleted_at timestamptz,
  moved_at timestamptz,
  moved_oid text,
  line text generated always as (go_modules.index_line(path, version, published_at)) stored not null,
  constraint version_pkey PRIMARY KEY (path, version)
);
comment on table go_modules.version is 'The feed: a version keeps its stamp for ever, and the commit that it was first seen at.';
comment on column go_modules.version.deleted_at is 'Since when its tag or its repository is no longer there; null again when it is back.';
comment on column go_modules.version.moved_oid is 'The commit that the tag was last seen at, if that was ever another one.';
comment on column go_modules.version.line is 'How the index tells it.';
CREATE INDEX version_available ON go_modules.version USING btree (published_at) WHERE (deleted_at IS NULL);
CREATE INDEX version_by_owner ON go_modules.version USING btree ((((split_part(path, '/'::text, 1) || '/'::text) || split_part(path, '/'::text, 2))), published_at);
CREATE INDEX version_by_resource ON go_modules.version USING btree (resource_id, published_at);
CREATE INDEX version_moved ON go_modules.version USING btree (path, version) WHERE (moved_at IS NOT NULL);
CREATE UNIQUE INDEX version_published ON go_modules.version USING btree (published_at);

create table nuget.feed (
  feed_id bigint not null,
  url text not null,
  catalog_url text not null,
  content_url text,
  checked_ms bigint not null,
  constraint feed_pkey PRIMARY KEY (feed_id)
);
comment on table nuget.feed is 'Feeds that are followed, by the resource of their catalog, and where their parts are.';

create table nuget.page (
  feed_id bigint not null,
  url text collate "C" not null,
  index_stamp text not null,
  index_count integer not null,
  stamp text not null,
  items integer not null,
  seen bytea,
  stale smallint not null,
  constraint page_pkey PRIMARY KEY (feed_id, url)
);
comment on table nuget.page is 'Pages of catalogs as they were read last; of those that may still grow, which items were there.';
comment on column nuget.page.seen is 'Eight bytes for each item that was posted; null once the page is full.';
comment on column nuget.page.stale is 'How often the page was found older than the index says.';

create table nuget.commit (
  feed_id bigint not null,
  ticks bigint not null,
  stamp text not null,
  constraint commit_pkey PRIMARY KEY (feed_id, ticks)
);
comment on table nuget.commit is 'Commits that the public cursor may still stop at, with their timestamps as written.';

create table nuget.anomaly (
  feed_id bigint not null,
  what text not null,
  times bigint not null,
  last_at timestamptz not null,
  example text not null,
  constraint anomaly_pkey PRIMARY KEY (feed_id, what)
);
comment on table nuget.anomaly is 'What a catalog did that its protocol does not say: tolerated and counted.';

create table nuget.version (
  feed_id bigint not null,
  lower_id text collate "C" not null,
  version_key text collate "C" not null,
  resource_id bigint not null,
  sort_key text collate "C" not null,
  ticks bigint not null,
  stamp text not null,
  leaf text not null,
  id text not null,
  version text not null,
  full_version text not null,
  deleted boolean not null,
  listed boolean not null,
  prerelease boolean not null,
  semver2 boolean not null,
  read boolean not null,
  published text,
  package_types text[] not null,
  details jsonb not null,
  constraint version_pkey PRIMARY KEY (feed_id, lower_id, version_key)
) with (fillfactor=90);
comment on table nuget.version is 'Each version in the state of its newest event. A deleted one stays, so that an older event cannot bring it back.';
comment on column nuget.version.read is 'Whether its leaf was read; otherwise only what the page says is known.';
CREATE INDEX version_live ON nuget.version USING btree (feed_id, lower_id, sort_key) WHERE (NOT deleted);
CREATE INDEX version_owner ON nuget.version USING btree (resource_id);

create table nuget.package (
  feed_id bigint not null,
  lower_id text collate "C" not null,
  resource_id bigint not null,
  id text not null,
  id_ticks bigint not null,
  ticks bigint not null,
  stable_key text,
  any_key text,
  stable2_key text,
  any2_key text,
  search tsvector not null,
  constraint package_pkey PRIMARY KEY (feed_id, lower_id)
) with (fillfactor=90);
comment on table nuget.package is 'Each package with its newest versions for the four kinds of clients, and what a search finds it by.';
comment on column nuget.package.stable_key is 'The newest listed release without SemVer 2; any_key counts prereleases, stable2_key and any2_key SemVer 2.';
comment on column nuget.package.search is 'Words: of the id (i/), of tags and title (t/), package types (y/), and the stems of what is said of it.';
CREATE INDEX package_newest ON nuget.package USING btree (feed_id, ticks DESC) WHERE (any2_key IS NOT NULL);
CREATE INDEX package_owner ON nuget.package USING btree (resource_id);
CREATE INDEX package_search ON nuget.package USING gin (search) WHERE (any2_key IS NOT NULL);

create table repositories.repository (
  resource_id bigint not null,
  key text collate "C" not null,
  state text not null,
  reason text,
  moved_to text collate "C",
  head_oid text,
  head_ref text,
  head_at timestamptz,
  commit_oid text,
  analyser integer,
  analysed_at timestamptz,
  constraint repository_pkey PRIMARY KEY (resource_id),
  constraint repository_key_key UNIQUE (key)
);
comment on table repositories.repository is 'Each repository that was asked for: what became of it, where its HEAD was seen last, and which commit its newest analysis is of.';
comment on column repositories.repository.state is 'seen, empty, hidden (gone or private: nothing of it is shown), forbidden (by law), moved, or refused (too large).';
comment on column repositories.repository.head_at is 'When HEAD was found at another commit than before.';
CREATE INDEX repository_moved ON repositories.repository USING btree (moved_to) WHERE (moved_to IS NOT NULL);
CREATE INDEX repository_recent ON repositories.repository USING btree (analysed_at DESC, key) WHERE ((analysed_at IS NOT NULL) AND (state = 'seen'::text));

create table repositories.analysis (
  resource_id bigint not null,
  commit_oid text not null,
  analyser integer not null,
  analysed_at timestamptz not null,
  head_ref text,
  pack_bytes bigint not null,
  ms integer not null,
  report jsonb not null,
  constraint analysis_pkey PRIMARY KEY (resource_id, commit_oid, analyser)
);
comment on table repositories.analysis is 'What was found in one commit by one version of the analyser; the newest few of each repository are kept.';
CREATE INDEX analysis_newest ON repositories.analysis USING btree (resource_id, analysed_at DESC);

create table web.scheme (
  scheme_id smallint not null,
  scheme text not null,
  constraint scheme_pkey PRIMARY KEY (scheme_id),
  constraint scheme_scheme_key UNIQUE (scheme)
);

create table web.content_type (
  content_type_id integer generated by default as identity not null,
  content_type text not null,
  constraint content_type_pkey PRIMARY KEY (content_type_id),
  constraint content_type_content_type_key UNIQUE (content_type)
);
comment on table web.content_type is 'Types without their parameters; those that servers send beyond the first ones get numbers from 100.';

create table web.tag (
  tag_id integer not null,
  weight "char" not null,
  tag text not null,
  constraint tag_pkey PRIMARY KEY (tag_id),
  constraint tag_tag_key UNIQUE (tag),
  constraint tag_weight_check CHECK ((weight = ANY (ARRAY['A'::"char", 'B'::"char", 'C'::"char", 'D'::"char"])))
);
comment on table web.tag is 'Where a text stood in its page, and how much that weighs in a search.';

create table web.tld (
  tld_id smallint not null,
  retired boolean default false not null,
  tld text collate "C" not null,
  constraint tld_pkey PRIMARY KEY (tld_id),
  constraint tld_tld_key UNIQUE (tld),
  constraint domain64_tld CHECK (((tld_id >= 1) AND (tld_id <= 255)))
);
comment on table web.tld is 'Numbers of domain64. None is ever given to another name: what is not wanted any more is retired.';

create table web.domain (
  domain_no integer not null,
  tld_id smallint not null,
  retired boolean default false not null,
  domain text collate "C" not null,
  constraint domain_pkey PRIMARY KEY (tld_id, domain_no),
  constraint domain_tld_id_domain_key UNIQUE (tld_id, domain),
  constraint domain64_domain CHECK (((domain_no >= 1) AND (domain_no <= 16777215))),
  constraint domain_tld_id_fkey FOREIGN KEY (tld_id) REFERENCES web.tld(tld_id)
);

create table web.subdomain (
  domain_no integer not null,
  subdomain_no integer not null,
  tld_id smallint not null,
  retired boolean default false not null,
  subdomain text collate "C" not null,
  constraint subdomain_pkey PRIMARY KEY (tld_id, domain_no, subdomain_no),
  constraint subdomain_tld_id_domain_no_subdomain_key UNIQUE (tld_id, domain_no, subdomain),
  constraint domain64_subdomain CHECK (((subdomain_no >= 0) AND (subdomain_no <= 16777215))),
  constraint subdomain_tld_id_domain_no_fkey FOREIGN KEY (tld_id, domain_no) REFERENCES web.domain(tld_id, domain_no)
);

create table web.partition (
  from_no bigint not null,
  until_no bigint,
  tld_id smallint not null,
  name text not null,
  constraint partition_pkey PRIMARY KEY (name)
);
comment on table web.partition is 'Parts of web.search: which domain64 numbers are in each; until_no is the first that is not, null where none is beyond.';

create table web.host (
  host_id integer generated by default as identity not null,
  delay_ms integer default 0 not null,
  resource_id bigint not null,
  domain64 bigint not null,
  robots_at timestamptz,
  robots_until timestamptz default '-infinity'::timestamp with time zone not null,
  robots_down_at timestamptz,
  recheck_after bigint,
  crawl_delay_ms integer,
  known integer default 0 not null,
  fetched integer default 0 not null,
  refused integer default 0 not null,
  robots_status smallint,
  scheme_id smallint default 1 not null,
  host text collate "C" not null,
  robots text,
  constraint host_pkey PRIMARY KEY (host_id),
  constraint host_host_key UNIQUE (host),
  constraint host_resource_id_key UNIQUE (resource_id),
  constraint host_scheme_id_fkey FOREIGN KEY (scheme_id) REFERENCES web.scheme(scheme_id)
);
comment on table web.host is 'Hosts that are crawled, with what their robots.txt says.';
comment on column web.host.recheck_after is 'Pages up to this one were looked at again under new rules; null when there is nothing to look at.';
comment on column web.host.refused is 'URLs that were not taken in because of a cap: the crawl is partial.';
CREATE INDEX host_by_number ON web.host USING btree (domain64);

create table web.guestbook (
  page_id bigint generated by default as identity not null,
  resource_id bigint not null,
  domain64 bigint not null,
  last_modified timestamptz,
  last_fetched timestamptz,
  last_changed timestamptz,
  next_fetch timestamptz not null,
  hinted_at timestamptz,
  host_id integer not null,
  content_type_id integer default 1 not null,
  content_length integer default 0 not null,
  interval_s integer not null,
  scheme_id smallint default 1 not null,
  status smallint default 0 not null,
  failures smallint default 0 not null,
  depth smallint default 0 not null,
  extractor smallint default 0 not null,
  unchanged smallint default 0 not null,
  noindex boolean default false not null,
  path text collate "C" not null,
  etag text,
  modified text,
  canonical text collate "C",
  reason text,
  content_hash bytea,
  constraint guestbook_pkey PRIMARY KEY (page_id),
  constraint guestbook_host_id_path_key UNIQUE (host_id, path),
  constraint guestbook_content_type_id_fkey FOREIGN KEY (content_type_id) REFERENCES web.content_type(content_type_id),
  constraint guestbook_scheme_id_fkey FOREIGN KEY (scheme_id) REFERENCES web.scheme(scheme_id)
) with (fillfactor=80);
comment on table web.guestbook is 'Every URL known of the followed hosts: when it was visited, what came, and when it is visited next.';
comment on column web.guestbook.last_fetched is 'When its server was last asked and its content was true, also where that had not changed.';
comment on column web.guestbook.hinted_at is 'The newest lastmod that a sitemap gave.';
comment on column web.guestbook.unchanged is 'Visits in a row that found nothing new.';
comment on column web.guestbook.modified is 'Last-Modified as it was sent, to be sent back.';
comment on column web.guestbook.reason is 'Why it cannot be found, or why the last visit failed.';
comment on column web.guestbook.content_hash is 'Of the text that was extracted, by tag; null where nothing is stored.';
CREATE INDEX guestbook_canonical ON web.guestbook USING btree (host_id, canonical) WHERE (canonical IS NOT NULL);
CREATE INDEX guestbook_due ON web.guestbook USING btree (resource_id, next_fetch, page_id);
CREATE INDEX guestbook_same ON web.guestbook USING btree (host_id, content_hash) WHERE (content_hash IS NOT NULL);
CREATE TRIGGER forget_pages AFTER DELETE ON web.guestbook REFERENCING OLD TABLE AS old_pages FOR EACH STATEMENT EXECUTE FUNCTION web.forget_pages();

create table web.shape (
  resource_id bigint not null,
  shape bigint not null,
  urls integer not null,
  constraint shape_pkey PRIMARY KEY (resource_id, shape)
);
comment on table web.shape is 'How many URLs were taken in that look alike but for numbers and queries: traps are bounded by it.';

create table web.sitemap (
  sitemap_id bigint generated by default as identity not null,
  resource_id bigint not null,
  next_fetch timestamptz not null,
  last_fetched timestamptz,
  urls integer default 0 not null,
  status smallint default 0 not null,
  depth smallint not null,
  failures smallint default 0 not null,
  url text collate "C" not null,
  etag text,
  modified text,
  constraint sitemap_pkey PRIMARY KEY (sitemap_id),
  constraint sitemap_resource_id_url_key UNIQUE (resource_id, url)
);

create table web.content (
  page_id bigint not null,
  resource_id bigint not null,
  tags integer[] not null,
  texts text[] not null,
  constraint content_pkey PRIMARY KEY (page_id)
);
comment on table web.content is 'What pages say, text by text with the tag of each: all that search is made of. web.raw_content shows it row by row.';

create view web.raw_content as
 SELECT c.page_id AS host_path,
    x.n AS id,
    t.tag,
    x.content
   FROM web.content c
     CROSS JOIN LATERAL UNNEST(c.tags, c.texts) WITH ORDINALITY x(tag_id, content, n)
     JOIN web.tag t ON t.tag_id = x.tag_id;

create table web.search (
  domain64 bigint not null,
  page_id bigint not null,
  part integer not null,
  words tsvector not null,
  constraint search_pkey PRIMARY KEY (domain64, page_id, part)
) partition by RANGE (domain64);
comment on table web.search is 'One weighted text vector per page, and per page of a PDF; made of web.content alone, and can be made again.';
comment on column web.search.part is '0, or the number of a page in a PDF.';
CREATE INDEX search_words ON ONLY web.search USING gin (words) WITH (fastupdate=off);

CREATE OR REPLACE FUNCTION tidemark.budget_at(b tidemark.budget, moment timestamp with time zone)
 RETURNS tidemark.budget
 LANGUAGE plpgsql
 IMMUTABLE
AS $function$
declare
  passed_ms float8 := greatest(0, extract(epoch from moment - b.at) * 1000);
  whole float8 := coalesce(b.burst, b.room + b.per_ms * b.life_ms);
  outside float8 := 0;
  most float8 := whole;
  was float8[];
  held float8 := 0;
  gained float8 := 0;
  over int := 0;
begin
  if b.shape = 'pace' then
    for j in 1 .. cardinality(b.out_units) loop
      outside := outside + b.out_units[j];
    end loop;
    -- At each moment since, buckets and what was out then held no more than the burst; from there they filled.
    for j in 1 .. cardinality(b.out_until) loop
      exit when b.out_until[j] > moment;
      most := least(most, whole - outside + b.per_ms * extract(epoch from moment - b.out_until[j]) * 1000);
      outside := outside - b.out_units[j];
      over := j;
    end loop;
    most := greatest(0, least(most, whole - outside));
    was := b.level;
    for i in 1 .. cardinality(b.share) loop
      b.level[i] := b.level[i] + b.per_ms * b.reserved[i] * passed_ms;
      if b.level[i] > b.capacity[i] then
        b.lent := b.lent + b.level[i] - b.capacity[i];
        b.level[i] := b.capacity[i];
      end if;
      held := held + greatest(0, b.level[i]);
      gained := gained + greatest(0, b.level[i]) - greatest(0, was[i]);
    end loop;
    b.lent := greatest(0, least(b.lent, b.room - held, most - held));
    -- What there is no room for was not gained: a bucket that was full stays full.
    if held > most and gained > 0 then
      for i in 1 .. cardinality(b.share) loop
        b.level[i] := b.level[i] - (greatest(0, b.level[i]) - greatest(0, was[i])) * least(1, (held - most) / gained);
      end loop;
    end if;
  elsif b.shape = 'window' then
    for j in 1 .. cardinality(b.out_until) loop
      exit when b.out_until[j] > moment;
      b.level[b.out_share[j]] := greatest(0, b.level[b.out_share[j]] - b.out_units[j]);
      over := j;
    end loop;
    if moment >= b.window_until then
      b.foreign_used := 0;
      if b.told then
        b.level := array_fill(0::float8, array[cardinality(b.share)]);
        over := cardinality(b.out_until);
        b.told := false;
      end if;
    end if;
  end if;
  if over > 0 then
    b.out_share := b.out_share[over + 1:];
    b.out_units := b.out_units[over + 1:];
    b.out_until := b.out_until[over + 1:];
  end if;
  b.at := greatest(b.at, moment);
  return b;
end $function$;

CREATE OR REPLACE FUNCTION tidemark.budget_room(b tidemark.budget)
 RETURNS double precision
 LANGUAGE plpgsql
 IMMUTABLE
AS $function$
begin
  return case when b.shape = 'window' then least(b.room, coalesce(b.said_room, b.room)) else b.room end;
end $function$;

CREATE OR REPLACE FUNCTION tidemark.budget_kept(b tidemark.budget, mine integer)
 RETURNS double precision
 LANGUAGE plpgsql
 IMMUTABLE
AS $function$
declare
  room float8 := tidemark.budget_room(b);
  kept float8 := 0;
  rest float8 := 1;
begin
  if b.shape <> 'window' then
    return 0;
  end if;
  if b.window_until > b.at then
    rest := least(1, extract(epoch from b.window_until - b.at) * 1000 / b.period_ms);
  end if;
  for i in 1 .. cardinality(b.share) loop
    if i <> mine then
      kept := kept + greatest(0, b.reserved[i] * room - b.level[i]) * rest;
    end if;
  end loop;
  return kept;
end $function$;

CREATE OR REPLACE FUNCTION tidemark.budget_left(b tidemark.budget, mine integer)
 RETURNS double precision
 LANGUAGE plpgsql
 IMMUTABLE
AS $function$
begin
  return case b.shape
    when 'pace' then b.level[mine] + b.lent
    when 'window' then tidemark.budget_room(b) - b.foreign_used
                       - (select sum(l) from unnest(b.level) as l) - tidemark.budget_kept(b, mine)
    else 1e15
  end;
end $function$;

CREATE OR REPLACE FUNCTION tidemark.budget_needs(b tidemark.budget, mine integer, cost double precision)
 RETURNS double precision
 LANGUAGE plpgsql
 IMMUTABLE
AS $function$
declare
  room float8 := tidemark.budget_room(b);
begin
  return case b.shape
    when 'pace' then least(cost, b.capacity[mine])
    when 'window' then least(cost, greatest(0, room - (
      select coalesce(sum(r * room), 0) from unnest(b.reserved) with ordinality as x(r, i) where i <> mine)))
    else 0
  end;
end $function$;

CREATE OR REPLACE FUNCTION tidemark.budget_wait_ms(b tidemark.budget, mine integer, cost double precision)
 RETURNS double precision
 LANGUAGE plpgsql
 IMMUTABLE
AS $function$
declare
  short float8 := tidemark.budget_needs(b, mine, cost) - tidemark.budget_left(b, mine);
  kept float8;
  rest_ms float8;
  speed float8;
  full_ms float8;
  next_ms float8;
  wait_ms float8 := 0;
begin
  if short <= 1e-9 then
    return 0;
  end if;
  if b.shape = 'window' then
    rest_ms := extract(epoch from b.window_until - b.at) * 1000;
    kept := tidemark.budget_kept(b, mine);
    if rest_ms > 0 and (b.told or kept > short) then
      wait_ms := case when kept > short then rest_ms * short / kept else rest_ms end;
    end if;
    -- Unless we were told, nothing begins anew at the end of a window: what was spent is over bit by bit.
    if not b.told then
      for j in 1 .. cardinality(b.out_until) loop
        short := short - b.out_units[j];
        next_ms := extract(epoch from b.out_until[j] - b.at) * 1000;
        exit when short <= 1e-9;
      end loop;
    end if;
    return greatest(1, coalesce(least(nullif(wait_ms, 0), next_ms), rest_ms));
  end if;
  -- Another share's part flows over to us from the moment that its bucket is full.
  loop
    speed := b.per_ms * b.reserved[mine];
    next_ms := null;
    for i in 1 .. cardinality(b.share) loop
      continue when i = mine or b.reserved[i] = 0;
      full_ms := (b.capacity[i] - b.level[i]) / (b.per_ms * b.reserved[i]);
      if full_ms <= wait_ms then
        speed := speed + b.per_ms * b.reserved[i];
      else
        next_ms := least(next_ms, full_ms);
      end if;
    end loop;
    if next_ms is null or short <= speed * (next_ms - wait_ms) then
      return wait_ms + short / speed;
    end if;
    short := short - speed * (next_ms - wait_ms);
    wait_ms := next_ms;
  end loop;
end $function$;

CREATE OR REPLACE FUNCTION tidemark.budget_taken(b tidemark.budget, mine integer, units double precision)
 RETURNS tidemark.budget
 LANGUAGE plpgsql
 IMMUTABLE
AS $function$
declare
  own float8;
  borrowed float8;
begin
  if b.shape = 'pace' then
    own := least(greatest(0, b.level[mine]), units);
    borrowed := least(b.lent, units - own);
    b.level[mine] := b.level[mine] - (units - borrowed);
    b.lent := b.lent - borrowed;
  elsif b.shape = 'window' then
    if b.at >= b.window_until then
      b.window_until := b.at + b.period_ms * interval '1 millisecond';
      b.window_no := b.window_no + 1;
    end if;
    b.level[mine] := b.level[mine] + units;
  end if;
  b.total := b.total + units;
  return b;
end $function$;

CREATE OR REPLACE FUNCTION tidemark.correct(of_budget text, no bigint, said double precision, remaining double precision, reset_ms double precision)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
declare
  b tidemark.budget;
  spent float8;
  held float8;
begin
  select (t).* into b from tidemark.budget t where t.budget = of_budget for update;
  if not found then
    return;
  end if;
  b := tidemark.budget_at(b, tidemark.now());
  if b.shape = 'window' and no = b.window_no and b.window_until > b.at then
    b.said_room := coalesce(said, b.said_room);
    select sum(l) into spent from unnest(b.level) as l;
    if remaining is not null then
      b.foreign_used := greatest(b.foreign_used, coalesce(said, tidemark.budget_room(b)) - remaining - spent);
    end if;
    if reset_ms > 0 then
      b.window_until := b.at + reset_ms * interval '1 millisecond';
      b.told := true;
    end if;
  elsif b.shape = 'pace' and remaining is not null then
    select sum(greatest(0, l)) into held from unnest(b.level) as l;
    if b.lent + held > remaining then
      b.lent := greatest(0, least(b.lent, remaining - held));
      if held > remaining then
        select array_agg(case when l > 0 then l * greatest(0, remaining) / held else l end order by i)
          into b.level from unnest(b.level) with ordinality as x(l, i);
      end if;
    end if;
  end if;
  update tidemark.budget t
     set at = b.at, level = b.level, lent = b.lent, window_until = b.window_until, said_room = b.said_room, foreign_used = b.foreign_used,
         out_share = b.out_share, out_units = b.out_units, out_until = b.out_until, told = b.told
   where t.budget = b.budget;
end $function$;

CREATE OR REPLACE FUNCTION tidemark.peek(lanes integer[], marks timestamp with time zone[])
 RETURNS TABLE(lane_id integer, settled_at timestamp with time zone)
 LANGUAGE plpgsql
 STABLE
 SET plan_cache_mode TO 'force_generic_plan'
 SET enable_seqscan TO 'off'
AS $function$
#variable_conflict use_column
begin
  return query
  select w.lane_id, tidemark.now() - interval '5 seconds'
    from unnest(lanes, marks) as w(lane_id, mark)
    join tidemark.lane l on l.lane_id = w.lane_id
    join tidemark.upstream u on u.upstream = l.upstream
   cross join lateral (
     select d.resource_id from tidemark.due d
      where d.lane_id = w.lane_id and d.lease_until is null and d.due_at >= w.mark and d.due_at <= tidemark.now()
      order by d.due_at limit 1) c
   where (u.closed_until is null or u.closed_until <= tidemark.now()) and (l.fleet is null or tidemark.has_room(w.lane_id));
end
$function$;
comment on function tidemark.peek(lanes integer[], marks timestamp with time zone[]) is 'Which lanes have something due now, in an open upstream: one index probe a lane.';

CREATE OR REPLACE FUNCTION tidemark.next_wake(lanes integer[], marks timestamp with time zone[], since timestamp with time zone)
 RETURNS TABLE(due_ms double precision, expiry_ms double precision)
 LANGUAGE plpgsql
 STABLE
 SET plan_cache_mode TO 'force_generic_plan'
 SET enable_seqscan TO 'off'
AS $function$
begin
  return query
  select (select extract(epoch from min(greatest(c.due_at, u.closed_until)) - tidemark.now())::float8 * 1000
            from unnest(lanes, marks) as w(lane_id, mark)
            join tidemark.lane l on l.lane_id = w.lane_id
            join tidemark.upstream u on u.upstream = l.upstream
           cross join lateral (
             select d.due_at from tidemark.due d
              where d.lane_id = w.lane_id and d.lease_until is null and d.due_at >= w.mark and d.due_at < 'infinity'
              order by d.due_at limit 1) c
           where l.fleet is null or tidemark.has_room(w.lane_id)),
         (select extract(epoch from h.until - tidemark.now())::float8 * 1000
            from tidemark.hold h where h.until >= since order by h.until limit 1);
end
$function$;
comment on function tidemark.next_wake(lanes integer[], marks timestamp with time zone[], since timestamp with time zone) is 'When to look again: the earliest due row of a lane with room, and the earliest end of a lease.';

CREATE OR REPLACE FUNCTION tidemark.claim(worker integer, ttl_ms double precision, over_ids bigint[], lanes integer[], marks timestamp with time zone[], most integer[], ahead_ms double precision[], by_place boolean)
 RETURNS TABLE(resource_id bigint, lease_no bigint, place tid, fresh_at timestamp with time zone, failures smallint, mail_done bigint, mail_seq bigint, source text, kind text, key text, options jsonb, cursor jsonb, generation bigint, changed_at timestamp with time zone, viewed_at timestamp with time zone, progress_done bigint, marked boolean, lane_id integer, hold_id bigint, newest_due_at timestamp with time zone, tried_at timestamp with time zone, now_ms double precision)
 LANGUAGE plpgsql
 SET plan_cache_mode TO 'force_generic_plan'
 SET enable_seqscan TO 'off'
 SET enable_sort TO 'on'
AS $function$
#variable_conflict use_column
declare
  picked tid[];
begin
  delete from tidemark.hold where hold_id = any(over_ids);
  if by_place then
    picked := array(
      select d.ctid from tidemark.due d
       where d.lane_id = lanes[1] and d.lease_until is null and d.asked_at is not null and d.due_at <= tidemark.now()
       order by d.asked_at limit most[1] for update skip locked);
  else
    picked := array(
      select c.place
        from unnest(lanes, marks, most, ahead_ms) as w(lane_id, mark, most, ahead_ms)
       cross join lateral (
         select d.ctid as place from tidemark.due d
          where d.lane_id = w.lane_id and d.lease_until is null and d.due_at >= w.mark
            and d.due_at <= tidemark.now() + case
                  when w.ahead_ms > 0 and exists (
                    select 1 from tidemark.due e
                     where e.lane_id = w.lane_id and e.lease_until is null and e.due_at >= w.mark and e.due_at <= tidemark.now())
                  then w.ahead_ms else 0 end * interval '1 millisecond'
          order by d.due_at limit w.most for update skip locked) c);
  end if;
  return query
  with taken as (
    update tidemark.due d
       set lease_no = d.lease_no + 1, lease_until = tidemark.now() + ttl_ms * interval '1 millisecond',
           tried_at = tidemark.now(), worker_id = worker
     where d.ctid = any(picked)
    returning d.resource_id, d.lease_no, d.lane_id, d.due_at, d.fresh_at, d.failures, d.mail_done, d.mail_seq, d.ctid as place
  ), held as (
    insert into tidemark.hold (lane_id, until, resource_ids, lease_nos)
    select t.lane_id, tidemark.now() + ttl_ms * interval '1 millisecond', array_agg(t.resource_id), array_agg(t.lease_no)
      from taken t group by t.lane_id
    returning hold_id, lane_id
  ), newest as (
    select t.lane_id, max(t.due_at) as due_at from taken t group by t.lane_id
  )
  select t.resource_id, t.lease_no, t.place, t.fresh_at, t.failures, t.mail_done, t.mail_seq,
         r.source, r.kind, r.key, r.options, r.cursor, r.generation, r.changed_at, r.viewed_at, r.progress_done,
         r.error is not null or r.reason is not null or r.parked_at is not null or r.gone_at is not null,
         t.lane_id, h.hold_id, w.due_at, n.at, n.now_ms
    from taken t
    join held h on h.lane_id = t.lane_id
    join newest w on w.lane_id = t.lane_id
    join tidemark.resource r on r.resource_id = t.resource_id
   cross join (select tidemark.now() as at, extract(epoch from tidemark.now())::float8 * 1000 as now_ms) n;
end
$function$;
comment on function tidemark.claim(worker integer, ttl_ms double precision, over_ids bigint[], lanes integer[], marks timestamp with time zone[], most integer[], ahead_ms double precision[], by_place boolean) is 'Leases due rows, up to so many of each lane, most overdue or first come first; lists them in a hold; drops holds that are over.';

CREATE OR REPLACE FUNCTION tidemark.finish(lane integer, first_come boolean, wakes boolean, floors boolean, is_fresh boolean, failed smallint, keeps_place boolean, locked boolean, places tid[], ids bigint[], nos bigint[], waits_ms double precision[], mails_done bigint[])
 RETURNS bigint[]
 LANGUAGE plpgsql
 SET plan_cache_mode TO 'force_generic_plan'
 SET enable_seqscan TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
AS $function$
#variable_conflict use_column
declare
  done bigint[];
  moved record;
begin
  with ended as (
    update tidemark.due d
       set lease_until = null,
           worker_id = null,
           not_before = greatest(case when d.not_before > tidemark.now() then d.not_before else '-infinity' end,
                                 case when floors then e.at end),
           due_at = greatest(case when wakes and d.mail_seq > e.mail_done then tidemark.now() else e.at end,
                             case when d.not_before > tidemark.now() then d.not_before end),
           fresh_at = case when is_fresh then d.tried_at else d.fresh_at end,
           failures = failed,
           lane_id = lane,
           mail_done = e.mail_done,
           asked_at = case when not first_come then null
                           when keeps_place then coalesce(d.asked_at, tidemark.now())
                           else greatest(case when wakes and d.mail_seq > e.mail_done then tidemark.now() else e.at end,
                                         case when d.not_before > tidemark.now() then d.not_before end) end
      from (select f.place, f.resource_id, f.lease_no, f.mail_done, tidemark.now() + f.wait_ms * interval '1 millisecond' as at
              from unnest(places, ids, nos, waits_ms, mails_done) as f(place, resource_id, lease_no, wait_ms, mail_done)) e
     where d.ctid = e.place and d.resource_id = e.resource_id and d.lease_no = e.lease_no
       and (locked and d.lease_until is not null or d.lease_until > tidemark.now())
    returning d.resource_id
  )
  select coalesce(array_agg(resource_id), '{}') into done from ended;
  if cardinality(done) = cardinality(ids) then
    return done;
  end if;
  -- Those that mail or a renewal moved since they were claimed, at the place where they are now.
  select array_agg(m.place) as places, array_agg(m.resource_id) as ids, array_agg(m.lease_no) as nos,
         array_agg(m.wait_ms) as waits_ms, array_agg(m.mail_done) as mails_done
    into moved
    from (select d.ctid as place, f.resource_id, f.lease_no, f.wait_ms, f.mail_done
            from unnest(ids, nos, waits_ms, mails_done) as f(resource_id, lease_no, wait_ms, mail_done)
            join tidemark.due d on d.resource_id = f.resource_id and d.lease_no = f.lease_no
           where f.resource_id <> all(done) and (locked and d.lease_until is not null or d.lease_until > tidemark.now())
           order by f.resource_id for update of d) m;
  if moved.ids is null then
    return done;
  end if;
  return done || tidemark.finish(lane, first_come, wakes, floors, is_fresh, failed, keeps_place, locked,
                                 moved.places, moved.ids, moved.nos, moved.waits_ms, moved.mails_done);
end
$function$;
comment on function tidemark.finish(lane integer, first_come boolean, wakes boolean, floors boolean, is_fresh boolean, failed smallint, keeps_place boolean, locked boolean, places tid[], ids bigint[], nos bigint[], waits_ms double precision[], mails_done bigint[]) is 'Ends pulls that end alike, where the lease is still theirs, and says whose did. Mail that came meanwhile makes a resource due at once.';

CREATE OR REPLACE FUNCTION tidemark.take_off(places tid[], ids bigint[], seqs bigint[])
 RETURNS void
 LANGUAGE plpgsql
 SET plan_cache_mode TO 'force_generic_plan'
 SET enable_seqscan TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
AS $function$
declare
  taken bigint;
begin
  delete from tidemark.message m
   using unnest(places, ids, seqs) as h(place, resource_id, seq)
   where m.ctid = h.place and m.resource_id = h.resource_id and m.seq = h.seq;
  get diagnostics taken = row_count;
  if taken < cardinality(ids) then
    delete from tidemark.message m
     using unnest(ids, seqs) as h(resource_id, seq)
     where m.resource_id = h.resource_id and m.seq = h.seq;
  end if;
end
$function$;
comment on function tidemark.take_off(places tid[], ids bigint[], seqs bigint[]) is 'Deletes handled messages where they were read, and those that moved since by their number.';

CREATE OR REPLACE FUNCTION tidemark.budget_noted(b tidemark.budget, mine integer, units double precision, until timestamp with time zone, step_ms double precision)
 RETURNS tidemark.budget
 LANGUAGE plpgsql
 IMMUTABLE
AS $function$
declare
  ends timestamptz := to_timestamp(ceil(extract(epoch from until)::float8 * 1000 / step_ms) * step_ms / 1000);
  k int := cardinality(b.out_until);
begin
  while k > 0 and b.out_until[k] > ends loop
    k := k - 1;
  end loop;
  for j in reverse k .. 1 loop
    exit when b.out_until[j] < ends;
    if b.out_share[j] = mine then
      b.out_units[j] := b.out_units[j] + units;
      return b;
    end if;
  end loop;
  b.out_share := b.out_share[:k] || mine || b.out_share[k + 1:];
  b.out_units := b.out_units[:k] || units || b.out_units[k + 1:];
  b.out_until := b.out_until[:k] || ends || b.out_until[k + 1:];
  return b;
end $function$;

CREATE OR REPLACE FUNCTION tidemark.budget_returned(b tidemark.budget, mine integer, units double precision, no bigint, age_ms double precision)
 RETURNS tidemark.budget
 LANGUAGE plpgsql
 IMMUTABLE
AS $function$
declare
  since timestamptz := coalesce(b.at - (age_ms - b.period_ms) * interval '1 millisecond', '-infinity');
  left_over float8 := units;
  part float8 := 0;
begin
  if b.shape = 'pace' then
    for i in 1 .. cardinality(b.share) loop
      part := part + greatest(0, b.level[i]);
    end loop;
    for j in 1 .. cardinality(b.out_units) loop
      part := part + b.out_units[j];
    end loop;
    b.level[mine] := b.level[mine] + least(
      units, greatest(0, coalesce(b.burst, b.room + b.per_ms * b.life_ms) - part - b.lent) + greatest(0, -b.level[mine]));
    b := tidemark.budget_at(b, b.at);
    b.total := b.total - units;
  elsif b.shape = 'window' and no = b.window_no and b.window_until > b.at then
    if units < 0 then
      b := tidemark.budget_noted(b, mine, -units, b.at + b.period_ms * interval '1 millisecond', greatest(1, b.period_ms / 16));
      left_over := 0;
    end if;
    for j in 1 .. cardinality(b.out_until) loop
      exit when left_over <= 0;
      continue when b.out_share[j] <> mine or b.out_until[j] < since;
      part := least(left_over, b.out_units[j]);
      b.out_units[j] := b.out_units[j] - part;
      left_over := left_over - part;
    end loop;
    b.level[mine] := greatest(0, b.level[mine] - (units - left_over));
    b.total := b.total - units;
  end if;
  return b;
end $function$;

CREATE OR REPLACE FUNCTION tidemark.give_back(budgets text[], of_share text, units double precision[], nos bigint[], age_ms double precision DEFAULT NULL::double precision)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
declare
  b tidemark.budget;
  k int;
begin
  for b in select (t).* from tidemark.budget t where t.budget = any(budgets) order by t.budget for update loop
    k := array_position(budgets, b.budget);
    b := tidemark.budget_at(b, tidemark.now());
    b := tidemark.budget_returned(b, coalesce(array_position(b.share, of_share), cardinality(b.share)), units[k], nos[k], age_ms);
    update tidemark.budget t
       set at = b.at, level = b.level, lent = b.lent, foreign_used = b.foreign_used, total = b.total,
           out_share = b.out_share, out_units = b.out_units, out_until = b.out_until, told = b.told
     where t.budget = b.budget;
  end loop;
end $function$;

CREATE OR REPLACE FUNCTION tidemark.take(of_upstream text, probe boolean, budgets text[], of_share text, need double precision[], demand double precision[], ahead double precision[], back double precision[], back_no bigint[], flight_ms double precision, wanted_ms double precision DEFAULT 0, back_age_ms double precision DEFAULT NULL::double precision, OUT granted double precision[], OUT nos bigint[], OUT flights bigint[], OUT life_ms double precision, OUT wait_ms double precision, OUT refused text, OUT why text, OUT said text, OUT per_ms double precision, OUT breaker text, OUT failing integer, OUT known integer)
 RETURNS record
 LANGUAGE plpgsql
AS $function$
declare
  moment timestamptz := tidemark.now();
  b tidemark.budget;
  rows tidemark.budget[] := '{}';
  up tidemark.upstream;
  mine int;
  k int;
  w float8;
  units float8;
  spare float8;
  lives_ms float8;
  number bigint;
begin
  granted := array_fill(0::float8, array[cardinality(budgets)]);
  nos := array_fill(0::bigint, array[cardinality(budgets)]);
  flights := '{}';
  life_ms := greatest(500, wanted_ms);
  wait_ms := 0;
  known := 0;
  for b in select (t).* from tidemark.budget t where t.budget = any(budgets) order by t.budget for update loop
    known := known + 1;
    b := tidemark.budget_at(b, moment);
    k := array_position(budgets, b.budget);
    mine := coalesce(array_position(b.share, of_share), cardinality(b.share));
    if back[k] > 0 then
      b := tidemark.budget_returned(b, mine, back[k], back_no[k], back_age_ms);
    end if;
    w := tidemark.budget_wait_ms(b, mine, need[k]);
    why := case when w > 0 and wait_ms < w then 'spent' else why end;
    if b.shape in ('gap', 'flights') and (
         b.free_at > moment or (select count(f.flight_id) from tidemark.flight f where f.budget = b.budget and f.until > moment) >= b.room) then
      w := greatest(10, case when b.free_at > moment then extract(epoch from b.free_at - moment) * 1000 else least(b.period_ms, 200) end);
      why := case when wait_ms < w then 'out' else why end;
    end if;
    if b.closed_until > moment and extract(epoch from b.closed_until - moment) * 1000 > w then
      w := extract(epoch from b.closed_until - moment) * 1000;
      why := case when wait_ms < w then 'closed' else why end;
      said := case when wait_ms < w then b.closed_reason else said end;
    end if;
    if w > wait_ms then
      wait_ms := w;
      refused := b.budget;
      per_ms := b.per_ms * b.reserved[mine];
    end if;
    if w > 0 then
      b.refused_at[mine] := moment;
      b.refused_ms[mine] := w;
    end if;
    rows := rows || b;
  end loop;
  -- Read after the locks: what closed the upstream meanwhile is seen.
  select (u).* into up from tidemark.upstream u where u.upstream = of_upstream;
  breaker := coalesce(up.breaker, 'closed');
  failing := coalesce(cardinality(up.failing), 0);
  if not probe and up.closed_until > moment and extract(epoch from up.closed_until - moment) * 1000 >= wait_ms then
    wait_ms := extract(epoch from up.closed_until - moment) * 1000;
    refused := of_upstream;
    why := 'shut';
    said := up.closed_reason;
  elsif not probe and breaker <> 'closed' then
    wait_ms := greatest(wait_ms, 1);
    refused := of_upstream;
    why := 'probe';
  end if;
  foreach b in array rows loop
    k := array_position(budgets, b.budget);
    mine := coalesce(array_position(b.share, of_share), cardinality(b.share));
    if wait_ms = 0 and known = cardinality(budgets) then
      spare := tidemark.budget_left(b, mine) - need[k];
      units := need[k] + greatest(0, least(demand[k] - need[k], spare));
      units := units + greatest(0, least(ahead[k], (spare - (units - need[k])) / 4));
      b := tidemark.budget_taken(b, mine, units);
      granted[k] := units;
      nos[k] := b.window_no;
      lives_ms := greatest(b.life_ms, wanted_ms);
      if b.shape = 'pace' then
        -- A fifth of it is for rounding up. What a call costs beyond its bucket is a debt, and not counted as out.
        lives_ms := greatest(b.life_ms * 0.8, wanted_ms);
        b := tidemark.budget_noted(b, 0, least(units, greatest(0, spare + need[k])), moment + lives_ms * interval '1 millisecond', lives_ms / 4);
      elsif b.shape = 'window' then
        if b.told then
          lives_ms := least(lives_ms, extract(epoch from b.window_until - moment) * 1000);
        end if;
        b := tidemark.budget_noted(
          b, mine, units, moment + (b.period_ms + lives_ms) * interval '1 millisecond', greatest(1, b.period_ms / 16));
      elsif b.shape in ('gap', 'flights') then
        insert into tidemark.flight (budget, until) values (b.budget, moment + flight_ms * interval '1 millisecond')
        returning flight_id into number;
        flights := flights || number;
      end if;
      life_ms := least(life_ms, lives_ms);
    end if;
    if b.shape not in ('gap', 'flights', 'account') or wait_ms > 0 then
      update tidemark.budget t
         set at = b.at, level = b.level, lent = b.lent, window_no = b.window_no, window_until = b.window_until,
             foreign_used = b.foreign_used, total = b.total, refused_at = b.refused_at, refused_ms = b.refused_ms,
             out_share = b.out_share, out_units = b.out_units, out_until = b.out_until, told = b.told
       where t.budget = b.budget;
    end if;
  end loop;
end $function$;

CREATE OR REPLACE FUNCTION tidemark.take_flights(of_budget text, most integer, flight_ms double precision)
 RETURNS bigint[]
 LANGUAGE plpgsql
AS $function$
declare
  moment timestamptz := tidemark.now();
  room float8;
  free int;
  taken bigint[];
begin
  select t.room into room from tidemark.budget t where t.budget = of_budget for update;
  if not found then
    return null;
  end if;
  select room - count(f.flight_id) into free from tidemark.flight f where f.budget = of_budget and f.until > moment;
  if free < 1 then
    update tidemark.budget t set refused_at[1] = moment, refused_ms[1] = 10 where t.budget = of_budget;
    return '{}';
  end if;
  with made as (
    insert into tidemark.flight (budget, until)
    select of_budget, moment + flight_ms * interval '1 millisecond' from generate_series(1, least(free, most))
    returning flight_id
  )
  select array_agg(m.flight_id order by m.flight_id) into taken from made m;
  return taken;
end $function$;
comment on function tidemark.take_flights(of_budget text, most integer, flight_ms double precision) is 'Places among the calls that may be out at once.';

CREATE OR REPLACE FUNCTION go_modules.index_line(path text, version text, at timestamp with time zone)
 RETURNS text
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
AS $function$
begin
  return replace(replace(replace(replace(replace(
      '{"Path":' || to_json(path)::text || ',"Version":' || to_json(version)::text || ',"Timestamp":'
        || rtrim(to_json(at at time zone 'UTC')::text, '"') || E'Z"}\n',
    '<', '\u003c'), '>', '\u003e'), '&', '\u0026'), U&'\2028', '\u2028'), U&'\2029', '\u2029');
end $function$;
comment on function go_modules.index_line(path text, version text, at timestamp with time zone) is 'A line of the index.';

CREATE OR REPLACE FUNCTION web.index_pages(ids bigint[])
 RETURNS integer
 LANGUAGE plpgsql
AS $function$
declare
  written int;
begin
  with g as (
    select p as g, web.findable(p) as findable from web.guestbook p where p.page_id = any(ids)
  ), parts as (
    select (g.g).domain64, (g.g).page_id, p.part, web.words_of(c.tags, c.texts, p.page_text) as words
      from g join web.content c on c.page_id = (g.g).page_id
     cross join lateral (
       select 0 as part, null as page_text where not (23 = any(c.tags))
       union all
       select row_number() over (order by x.n)::int, x.content from unnest(c.tags, c.texts) with ordinality as x(tag_id, content, n) where x.tag_id = 23) p
     where g.findable
  ), made as (
    insert into web.search as s (domain64, page_id, part, words)
    select domain64, page_id, part, words from parts
    on conflict (domain64, page_id, part) do update set words = excluded.words where s.words is distinct from excluded.words
    returning 1
  ), dropped as (
    delete from web.search s using g
     where s.domain64 = (g.g).domain64 and s.page_id = (g.g).page_id
       and not exists (select 1 from parts p where p.page_id = s.page_id and p.part = s.part)
    returning 1
  )
  select (select count(*) from made) + (select count(*) from dropped) into written;
  return written;
end $function$;

CREATE OR REPLACE FUNCTION web.discover(of_resource bigint, paths text[], schemes integer[], depths integer[], shapes bigint[], shape_most integer[], due timestamp with time zone[], hints timestamp with time zone[], pages_most integer, first_interval_s integer)
 RETURNS integer
 LANGUAGE plpgsql
AS $function$
declare
  h web.host;
  new_urls int;
  taken_urls int;
begin
  select (t).* into h from web.host t where t.resource_id = of_resource for update;
  with given as (
    select u.path, min(u.scheme) as scheme, min(u.depth) as depth, min(u.shape) as shape, min(u.most) as most, min(u.due) as due, max(u.hint) as hint, min(u.n) as n
      from unnest(paths, schemes, depths, shapes, shape_most, due, hints) with ordinality as u(path, scheme, depth, shape, most, due, hint, n)
     group by u.path
  ), unknown as (
    select g.path, g.scheme, g.depth, g.shape, g.most, g.due, g.hint, g.n from given g
     where not exists (select 1 from web.guestbook p where p.host_id = h.host_id and p.path = g.path)
  ), alike as (
    select k.path, k.scheme, k.depth, k.shape, k.due, k.hint, k.n,
           k.shape is null or coalesce(s.urls, 0) + row_number() over (partition by k.shape order by k.n) <= k.most as fits
      from unknown k left join web.shape s on s.resource_id = of_resource and s.shape = k.shape
  ), numbered as (
    select a.path, a.scheme, a.depth, a.shape, a.due, a.hint, a.n, row_number() over (order by a.n) as place from alike a where a.fits
  ), made as (
    insert into web.guestbook (resource_id, domain64, next_fetch, hinted_at, host_id, interval_s, scheme_id, depth, path)
    select of_resource, h.domain64, coalesce(n.due, tidemark.now()), n.hint, h.host_id, first_interval_s, n.scheme, n.depth, n.path
      from numbered n where h.known + n.place <= pages_most order by n.n
    on conflict (host_id, path) do nothing
    returning path
  ), counted as (
    insert into web.shape as s (resource_id, shape, urls)
    select of_resource, n.shape, count(*) from made m join numbered n on n.path = m.path where n.shape is not null group by n.shape
    on conflict (resource_id, shape) do update set urls = s.urls + excluded.urls
    returning 1
  )
  select (select count(*) from unknown), (select count(*) from made) + 0 * (select count(*) from counted) into new_urls, taken_urls;
  if new_urls > 0 then
    update web.host t set known = t.known + taken_urls, refused = t.refused + new_urls - taken_urls where t.resource_id = of_resource;
  end if;
  return taken_urls;
end $function$;

CREATE OR REPLACE FUNCTION web.make_host(of_resource bigint, of_host text, of_tld text, of_domain text, of_subdomain text, of_scheme integer)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
declare
  d web.domain;
  no int;
begin
  select (t).* into d from web.domain t join web.tld l on l.tld_id = t.tld_id where l.tld = of_tld and t.domain = of_domain for update of t;
  if not found then
    raise exception 'the domain %.% has no number', of_domain, of_tld;
  end if;
  if of_subdomain = '' then
    no := 0;
  else
    select s.subdomain_no into no from web.subdomain s where (s.tld_id, s.domain_no, s.subdomain) = (d.tld_id, d.domain_no, of_subdomain);
    if not found then
      -- Also above what is retired: no number is ever given twice.
      select coalesce(max(s.subdomain_no), 0) + 1 into no from web.subdomain s where (s.tld_id, s.domain_no) = (d.tld_id, d.domain_no);
      insert into web.subdomain (tld_id, domain_no, subdomain_no, subdomain) values (d.tld_id, d.domain_no, no, of_subdomain);
    end if;
  end if;
  insert into web.host (resource_id, domain64, host, scheme_id)
  values (of_resource, (d.tld_id::bigint << 56) | (d.domain_no::bigint << 32) | (no::bigint << 8), of_host, of_scheme)
  on conflict (host) do update set resource_id = excluded.resource_id;
end $function$;
