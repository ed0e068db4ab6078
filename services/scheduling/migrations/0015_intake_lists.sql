-- What the lists of service requests and interactions order and filter by (docs/adr/0005).
alter table service_requests add column created_at timestamptz, add column status text;
alter table interactions add column created_at timestamptz, add column status text, add column projection smallint not null default 0;
create trigger guard_projection before insert or update on interactions for each row execute function guard_projection();
