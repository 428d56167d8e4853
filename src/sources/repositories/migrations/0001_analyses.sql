-- Repositories and what was found in them, commit by commit.

create schema repositories;

create table repositories.repository (
  resource_id bigint primary key,
  key text collate "C" not null unique,
  state text not null,
  reason text,
  moved_to text collate "C",
  head_oid text,
  head_ref text,
  head_at timestamptz,
  commit_oid text,
  analyser int,
  analysed_at timestamptz
);

comment on table repositories.repository is 'Each repository that was asked for: what became of it, where its HEAD was seen last, and which commit its newest analysis is of.';
comment on column repositories.repository.state is 'seen, empty, hidden (gone or private: nothing of it is shown), forbidden (by law), moved, or refused (too large).';
comment on column repositories.repository.head_at is 'When HEAD was found at another commit than before.';

create index repository_recent on repositories.repository (analysed_at desc, key) where analysed_at is not null and state = 'seen';
create index repository_moved on repositories.repository (moved_to) where moved_to is not null;

create table repositories.analysis (
  resource_id bigint not null,
  commit_oid text not null,
  analyser int not null,
  analysed_at timestamptz not null,
  head_ref text,
  pack_bytes bigint not null,
  ms int not null,
  report jsonb not null,
  primary key (resource_id, commit_oid, analyser)
);

comment on table repositories.analysis is 'What was found in one commit by one version of the analyser; the newest few of each repository are kept.';

create index analysis_newest on repositories.analysis (resource_id, analysed_at desc);
