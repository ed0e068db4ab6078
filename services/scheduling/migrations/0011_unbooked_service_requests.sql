-- The summary counts unbooked service requests by a column that is projected from the document, as those of records are (docs/adr/0005).
alter table service_requests add column unbooked boolean not null default false, add column projection smallint not null default 0;
create trigger guard_projection before insert or update on service_requests for each row execute function guard_projection();
