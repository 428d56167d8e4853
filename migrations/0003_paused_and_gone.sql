-- Remembers which floor a paused resource had, and which of those that are gone have lost their records.
--
-- Both are on the cold row, and written rarely.

alter table tidemark.resource
  add column floor_at timestamptz,
  add column emptied_at timestamptz;

comment on column tidemark.resource.floor_at is 'The floor that the hot row had, or was given, while it is paused: resuming puts it back.';
comment on column tidemark.resource.emptied_at is 'When the last of its records was deleted; it counts while it is not before gone_at.';

-- What housekeeping has still to empty; what it emptied once is never looked at again.
create index resource_to_empty on tidemark.resource (gone_at, resource_id)
  where gone_at is not null and (emptied_at is null or emptied_at < gone_at);
