-- JSON text of an endpoint's content filter (decisions §15); null lets every event through.
alter table webhook_endpoints add column filter text;

-- All events of a company in the order of their time, whether or not an endpoint got them, for previews of filters and for
-- recoveries. Bodies are in webhook_events. Events that releases of before this one store are missing here.
create table webhook_event_log (
  day date not null,
  company_id uuid not null,
  occurred_at timestamptz not null,
  id uuid not null,
  type text not null,
  subject text not null,
  sequence bigint not null,
  subject_number text,
  customer_name text,
  primary key (company_id, day, occurred_at, id)
) partition by range (day);

-- Events of a period that are sent to an endpoint again, after the call that asked for it was answered. A table of its own,
-- because releases of before this one would take it for a recovery of skipped and failed deliveries only.
create table webhook_replays (
  id bigint generated always as identity primary key,
  endpoint_id uuid not null references webhook_endpoints,
  -- Moves on to `until`, window by window.
  since timestamptz not null,
  until timestamptz not null,
  -- Whether delivered events are sent again too.
  delivered boolean not null
);
create index webhook_replays_of_endpoint on webhook_replays (endpoint_id);

-- Whether a delivery is a test, which is tried once and never recovered. Tests of before this release have the type webhook.test.
alter table webhook_deliveries add column test boolean not null default false;

-- Addresses that get e-mails about an endpoint; null is its creator. The cause of the last alert is null once deliveries succeed again.
alter table webhook_endpoints
  add column alert_user_ids uuid[],
  add column alerted_at timestamptz,
  -- HOUR, GONE or FAILING.
  add column alerted_for text;
