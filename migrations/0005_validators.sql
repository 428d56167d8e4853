-- What an upstream gave us to recognise an unchanged answer by, for each resource and address.
--
-- It is saved with the commit that ends a pull fresh, never before what it stands for is in the mirror.

create table tidemark.validator (
  resource_id bigint not null references tidemark.resource on delete cascade,
  -- A digest: an address may hold a secret.
  address text not null,
  version int not null,
  etag text,
  last_modified text,
  primary key (resource_id, address)
);

comment on table tidemark.validator is 'ETag and Last-Modified of what a resource was last mirrored from.';
comment on column tidemark.validator.version is 'Of the kind whose code made the records: another version does not call them unchanged.';
