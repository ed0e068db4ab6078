-- How endpoints fare: their circuits as dispatchers tell of them, and counts of their attempts.
alter table webhook_endpoints add column circuit_open_until timestamptz;

-- Attempts by when they ended: by the minute at first, later by quarters of an hour, then by hours, for 30 days. A row is
-- added to in the transaction that stores the attempts.
create table webhook_counts (
  company_id uuid not null,
  endpoint_id uuid not null,
  -- When the stretch of time begins, and how many minutes it has: 1, 15 or 60.
  at timestamptz not null,
  minutes smallint not null,
  delivered bigint not null,
  failed bigint not null,
  -- Attempts by how long they took: the first number is of those below the first bound of LATENCY_BOUNDS (counts.ts), the last
  -- of those at or above the last one.
  latencies integer[] not null,
  last_success_at timestamptz,
  primary key (company_id, endpoint_id, at, minutes)
) with (fillfactor = 50);
create index webhook_counts_by_age on webhook_counts (minutes, at);

-- What replicas of before this store is counted as well. Connections that count by themselves set truckroll.counts_attempts.
create function count_webhook_attempt() returns trigger language plpgsql as $$
declare
  bounds constant double precision[] := array[5, 10, 20, 30, 50, 75, 100, 150, 200, 300, 500, 750, 1000, 1500, 2000, 3000, 5000, 7500, 10000, 14000];
  milliseconds constant double precision := extract(epoch from new.ended_at - new.started_at) * 1000;
begin
  insert into webhook_counts as c (company_id, endpoint_id, at, minutes, delivered, failed, latencies, last_success_at)
  select d.company_id, d.endpoint_id, date_trunc('minute', least(new.ended_at, now())), 1, new.succeeded::int, (not new.succeeded)::int,
    array(select (bucket = width_bucket(milliseconds, bounds) and (new.status is not null or new.error = 'ATTEMPT_ERROR_TIMEOUT'))::int
      from generate_series(0, cardinality(bounds)) bucket order by bucket),
    case when new.succeeded then new.ended_at end
  from webhook_deliveries d where d.day = new.day and d.id = new.delivery_id
  on conflict (company_id, endpoint_id, at, minutes) do update set
    delivered = c.delivered + excluded.delivered, failed = c.failed + excluded.failed,
    latencies = array(select a + b from unnest(c.latencies, excluded.latencies) with ordinality t (a, b, place) order by place),
    last_success_at = greatest(c.last_success_at, excluded.last_success_at);
  return null;
end $$;
create trigger counts_attempts after insert on webhook_attempts
  for each row when (current_setting('truckroll.counts_attempts', true) is distinct from 'on') execute function count_webhook_attempt();

-- What people look for in the log; null for what was stored before this, and by older replicas.
alter table webhook_deliveries add column subject_number text, add column customer_name text;
