-- The mirror of Go modules: repositories, tags and go.mod files as GitHub has them, and the versions that follow from these.
create schema go_modules;
comment on schema go_modules is 'Go modules in repositories of GitHub, for a feed such as index.golang.org.';

create table go_modules.repository (
  resource_id bigint primary key,
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
  tags int not null,
  listing_no bigint not null,
  unique (host, node_id)
);
comment on table go_modules.repository is 'A repository, by the id that it keeps when it is renamed or transferred.';
comment on column go_modules.repository.root is 'The module path of its root where no go.mod says otherwise: its name when it was first seen.';
comment on column go_modules.repository.tags is 'How many tags GitHub counted when they were last listed whole and everything that follows was written; -1 until then.';
comment on column go_modules.repository.listing_no is 'The period in which its tags were last listed whole; -1 before.';

create table go_modules.tag (
  resource_id bigint not null,
  name text collate "C" not null,
  oid text not null,
  commit_oid text,
  primary key (resource_id, name)
);
comment on column go_modules.tag.commit_oid is 'The commit that it stands for, peeled; null where it stands for something else.';

-- Names that a listing of several pages has met, only while it looks for tags that are gone.
create table go_modules.seen (
  resource_id bigint not null,
  name text collate "C" not null,
  primary key (resource_id, name)
);

create table go_modules.gomod (
  resource_id bigint not null,
  commit_oid text not null,
  dir text collate "C" not null,
  module_path text,
  primary key (resource_id, commit_oid, dir)
);
comment on column go_modules.gomod.module_path is 'What it declares, empty where that cannot be read; null where there is no go.mod.';

create table go_modules.module (
  path text collate "C" primary key,
  resource_id bigint not null,
  at_home boolean not null
);
create index module_by_resource on go_modules.module (resource_id);
comment on table go_modules.module is 'Which repository a module path belongs to; the others that declare it are in conflict.';
comment on column go_modules.module.at_home is 'The path is that of the repository itself or below it.';

create table go_modules.conflict (
  path text collate "C" not null,
  resource_id bigint not null,
  held_by bigint,
  primary key (path, resource_id)
);
create index conflict_by_resource on go_modules.conflict (resource_id);
comment on table go_modules.conflict is 'A repository that declares a path which belongs to another; its versions are not published.';
comment on column go_modules.conflict.held_by is 'The repository that has it; null where that is none that is followed.';

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
  primary key (path, version)
);
create unique index version_published on go_modules.version (published_at);
create index version_available on go_modules.version (published_at) where deleted_at is null;
create index version_by_owner on go_modules.version ((split_part(path, '/', 1) || '/' || split_part(path, '/', 2)), published_at);
create index version_moved on go_modules.version (path, version) where moved_at is not null;
create index version_by_resource on go_modules.version (resource_id);
comment on table go_modules.version is 'The feed: a version keeps its stamp for ever, and the commit that it was first seen at.';
comment on column go_modules.version.deleted_at is 'Since when its tag or its repository is no longer there; null again when it is back.';
comment on column go_modules.version.moved_oid is 'The commit that the tag was last seen at, if that was ever another one.';

create function go_modules.repository_left() returns trigger language plpgsql as $$
begin
  update go_modules.version set deleted_at = tidemark.now() where resource_id = old.resource_id and deleted_at is null;
  return null;
end $$;
comment on function go_modules.repository_left() is 'Versions outlive their repository, so that the feed never shrinks: they are only no longer available.';
create trigger repository_left after delete on go_modules.repository for each row execute function go_modules.repository_left();
