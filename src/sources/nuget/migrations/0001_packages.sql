-- The packages of NuGet feeds, version by version, as their catalogs told them last.

create schema nuget;

create table nuget.feed (
  feed_id bigint primary key,
  url text not null,
  catalog_url text not null,
  content_url text,
  checked_ms bigint not null
);

comment on table nuget.feed is 'Feeds that are followed, by the resource of their catalog, and where their parts are.';

create table nuget.page (
  feed_id bigint not null,
  url text collate "C" not null,
  index_stamp text not null,
  index_count int not null,
  stamp text not null,
  items int not null,
  seen bytea,
  stale smallint not null,
  primary key (feed_id, url)
);

comment on table nuget.page is 'Pages of catalogs as they were read last; of those that may still grow, which items were there.';
comment on column nuget.page.seen is 'Eight bytes for each item that was posted; null once the page is full.';
comment on column nuget.page.stale is 'How often the page was found older than the index says.';

create table nuget.commit (
  feed_id bigint not null,
  ticks bigint not null,
  stamp text not null,
  primary key (feed_id, ticks)
);

comment on table nuget.commit is 'Commits that the public cursor may still stop at, with their timestamps as written.';

create table nuget.anomaly (
  feed_id bigint not null,
  what text not null,
  times bigint not null,
  last_at timestamptz not null,
  example text not null,
  primary key (feed_id, what)
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
  primary key (feed_id, lower_id, version_key)
) with (fillfactor = 90);

comment on table nuget.version is 'Each version in the state of its newest event. A deleted one stays, so that an older event cannot bring it back.';
comment on column nuget.version.read is 'Whether its leaf was read; otherwise only what the page says is known.';

create index version_live on nuget.version (feed_id, lower_id, sort_key) where not deleted;
create index version_owner on nuget.version (resource_id);

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
  package_types text[] not null,
  search tsvector not null,
  primary key (feed_id, lower_id)
) with (fillfactor = 90);

comment on table nuget.package is 'Each package with its newest versions for the four kinds of clients, and what a search finds it by.';
comment on column nuget.package.stable_key is 'The newest listed release without SemVer 2; any_key counts prereleases, stable2_key and any2_key SemVer 2.';

create index package_search on nuget.package using gin (search) where any2_key is not null;
create index package_newest on nuget.package (feed_id, ticks desc) where any2_key is not null;
create index package_owner on nuget.package (resource_id);
