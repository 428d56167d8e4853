-- The mirror of issues: repositories, issues, comments and labels as GitHub has them, and the texts that are compared by meaning.
create schema github_issues;
comment on schema github_issues is 'Issues of repositories of GitHub, to be found by words and by meaning.';

-- Identifiers are made of parts that people search for apart, and PostgreSQL would take "a.b" for a host and "a/b" for a file.
create function github_issues.words(text text) returns tsvector language sql immutable parallel safe as
  $$ select to_tsvector('pg_catalog.english', translate(text, './\_:@#=-()[]{}<>`', '                  ')) $$;
comment on function github_issues.words(text) is 'The words of a text, identifiers in their parts.';

create table github_issues.repository (
  resource_id bigint primary key,
  host text not null,
  node_id text not null,
  name text not null,
  is_private boolean not null,
  is_archived boolean not null,
  is_disabled boolean not null,
  has_issues boolean not null,
  is_hidden boolean not null,
  seen_by text,
  issues int not null,
  newest text not null,
  initialised_at timestamptz,
  unique (host, node_id)
);
create index repository_by_name on github_issues.repository (lower(name), host);
comment on table github_issues.repository is 'A repository, by the id that it keeps when it is renamed or transferred.';
comment on column github_issues.repository.is_hidden is 'Nobody of us sees it any more: nothing of it is shown.';
comment on column github_issues.repository.issues is 'How many issues GitHub counted last.';
comment on column github_issues.repository.newest is 'What its newest issues looked like when it was last read to the end.';
comment on column github_issues.repository.initialised_at is 'When its past had been read for the first time; null before.';

create table github_issues.issue (
  resource_id bigint not null,
  number int not null,
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
  comments int not null,
  comments_after text,
  labels_after text,
  reactions int not null default 0,
  search tsvector not null generated always as (
    setweight(github_issues.words(title), 'A') || setweight(github_issues.words(body), 'B')) stored,
  primary key (resource_id, number)
);
create index issue_by_update on github_issues.issue (resource_id, updated_at desc, number);
create index issue_by_creation on github_issues.issue (resource_id, created_at);
create index issue_newest on github_issues.issue (updated_at desc, resource_id, number);
create index issue_unread on github_issues.issue (resource_id, number) where comments_after is not null or labels_after is not null;
create index issue_search on github_issues.issue using gin (search);
create index issue_labels on github_issues.issue using gin (label_ids);
create index issue_by_author on github_issues.issue (lower(author));
comment on column github_issues.issue.comments is 'How many comments GitHub counted.';
comment on column github_issues.issue.comments_after is 'Behind which the comments that are not mirrored yet begin; empty is the beginning, null that none is missing.';
comment on column github_issues.issue.reactions is 'As a sweep counted them.';

create table github_issues.comment (
  comment_id text primary key,
  resource_id bigint not null,
  number int not null,
  author text,
  association text,
  body text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  search tsvector not null generated always as (github_issues.words(body)) stored
);
create index comment_by_issue on github_issues.comment (resource_id, number, created_at);
create index comment_search on github_issues.comment using gin (search);

create table github_issues.label (
  label_id text primary key,
  resource_id bigint not null,
  name text not null,
  color text
);
create index label_by_name on github_issues.label (lower(name));
create index label_by_resource on github_issues.label (resource_id);

-- What is embedded: a text of its own for each part of an issue, and beside it what has to be done for it.
create table github_issues.passage (
  resource_id bigint not null,
  number int not null,
  tokens_most int not null,
  part int not null,
  hash text collate "C" not null,
  tokens int not null,
  text text not null,
  written_at timestamptz not null default tidemark.now(),
  primary key (resource_id, number, tokens_most, part)
);
create index passage_by_hash on github_issues.passage (hash);
create index passage_written on github_issues.passage (written_at);
comment on table github_issues.passage is 'A part of an issue as a model reads it: its title, and as much of the rest as fits.';

create table github_issues.generation (
  generation int generated always as identity primary key,
  model text not null,
  tokens_most int not null,
  dimensions int,
  created_at timestamptz not null default tidemark.now(),
  completed_at timestamptz,
  retired_at timestamptz,
  unique (model, tokens_most)
);
comment on table github_issues.generation is 'Vectors of one model; those of two are never compared.';

create table github_issues.vector (
  generation int not null,
  hash text collate "C" not null,
  vector real[] not null,
  code bytea not null,
  written_at timestamptz not null default tidemark.now(),
  primary key (generation, hash)
);
comment on column github_issues.vector.code is 'The same in whole numbers from -127 to 127, for comparing many.';
create index vector_written on github_issues.vector (generation, written_at);

create table github_issues.unembedded (
  generation int not null,
  hash text collate "C" not null,
  resource_id bigint not null,
  number int not null,
  tokens int not null,
  tries int not null default 0,
  retry_at timestamptz not null default '-infinity',
  reason text,
  primary key (generation, hash)
);
create index unembedded_next on github_issues.unembedded (generation, retry_at, resource_id);
create index unembedded_by_resource on github_issues.unembedded (resource_id);
comment on table github_issues.unembedded is 'Texts that have no vector of this generation yet, known by what they say and not by when they were written.';

-- Where it can be had, vectors are compared by the database; the schema is the same without it.
do $$
begin
  if exists (select 1 from pg_available_extensions where name = 'vector') then
    create extension if not exists vector;
  end if;
exception when insufficient_privilege then
  raise notice 'pgvector is there, and this role may not install it: vectors are compared by the server process.';
end $$;

-- Every word has to be there; what has no words matches everything, and is told by its letters alone.
create function github_issues.query(text text) returns tsquery language sql immutable parallel safe as
  $$ select coalesce((select string_agg(quote_literal(u.lexeme), ' & ')::tsquery from unnest(github_issues.words(text)) u), ''::tsquery) $$;
comment on function github_issues.query(text) is 'All words of a text.';
