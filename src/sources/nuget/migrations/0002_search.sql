-- Searching hundreds of thousands of packages: words that say where they stand.

-- A weight in a query is not in the index: each row that has the word somewhere had to be read and looked through. Now a word of the id begins
-- with "i/", one of the tags or the title with "t/", a type with "y/", and the others are as the description has them. No order needs their positions.
drop index nuget.package_search;
update nuget.package p
   set search = coalesce((
     select array_to_tsvector(array_agg(distinct case w.weight when 'A' then 'i/' when 'B' then 't/' else '' end || u.lexeme))
       from unnest(p.search) u cross join lateral unnest(u.weights) as w(weight)), '')
     || array_to_tsvector(array(select distinct 'y/' || lower(t) from unnest(p.package_types) t where t <> ''));
alter table nuget.package drop column package_types;
create index package_search on nuget.package using gin (search) where any2_key is not null;

comment on column nuget.package.search is 'Words: of the id (i/), of tags and title (t/), package types (y/), and the stems of what is said of it.';
