-- Recoveries that go on after their call was answered: a row lives until everything in its time is queued.
create table webhook_recoveries (
  endpoint_id uuid not null references webhook_endpoints,
  since timestamptz not null,
  until timestamptz not null,
  primary key (endpoint_id, since, until)
);
