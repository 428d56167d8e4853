-- The line of each version, ready to be sent: writing 2,000 of them for every answer took longer than everything else.
--
-- Byte for byte as index.golang.org has it: JSON of the database has times without zeros at their end, as Go's has; Go also escapes what would mean
-- something in HTML and JavaScript. Said to be immutable, because nothing that it reads depends on settings.
create function go_modules.index_line(path text, version text, at timestamptz) returns text language plpgsql immutable parallel safe as $$
begin
  return replace(replace(replace(replace(replace(
      '{"Path":' || to_json(path)::text || ',"Version":' || to_json(version)::text || ',"Timestamp":'
        || rtrim(to_json(at at time zone 'UTC')::text, '"') || E'Z"}\n',
    '<', '\u003c'), '>', '\u003e'), '&', '\u0026'), U&'\2028', '\u2028'), U&'\2029', '\u2029');
end $$;
comment on function go_modules.index_line(text, text, timestamptz) is 'A line of the index.';

alter table go_modules.version add column line text not null generated always as (go_modules.index_line(path, version, published_at)) stored;
comment on column go_modules.version.line is 'How the index tells it.';
