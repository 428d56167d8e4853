-- How fresh each source was, minute by minute, because a number of now says nothing about last night.

create table tidemark.freshness (
  source text not null,
  minute timestamptz not null,
  fresh_percent double precision,
  due bigint not null,
  primary key (minute, source)
);
comment on table tidemark.freshness is 'Noted once a minute by whoever keeps house, for seven days: what the dashboard draws.';
comment on column tidemark.freshness.fresh_percent is 'Null while nothing is followed.';
