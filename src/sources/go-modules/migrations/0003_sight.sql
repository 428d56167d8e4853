-- Which account saw a repository, because another one that does not see it cannot tell whether it is gone.
alter table go_modules.repository add column seen_by text;
comment on column go_modules.repository.seen_by is 'The account that listed its tags last; null before.';
