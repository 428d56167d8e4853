-- What people page through: repositories by their names, and the newest versions of one of them.
create index repository_by_name on go_modules.repository (((host || '/' || name) collate "C"), resource_id);
drop index go_modules.version_by_resource;
create index version_by_resource on go_modules.version (resource_id, published_at);
