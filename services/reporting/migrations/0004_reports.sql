-- What the four reports are answered from (docs/adr/0006): facts, and sums of them by day and by month.

-- Copies of billing's movements of money, fed by Kafka.
create table payments (
  company_id uuid not null,
  id uuid not null,
  status text,
  method text not null,
  account_id uuid not null,
  collected_by_id uuid,
  amount_cents bigint not null,
  occurred_at timestamptz not null,
  copied_at timestamptz not null default now(),
  primary key (company_id, id)
);
create index payments_occurred on payments (company_id, occurred_at) where status = 'PAID';
create index payments_account on payments (company_id, account_id, occurred_at) where status = 'PAID';

create table refunds (
  company_id uuid not null,
  id uuid not null,
  status text not null,
  payment_method text not null,
  account_id uuid not null,
  collected_by_id uuid,
  amount_cents bigint not null,
  occurred_at timestamptz not null,
  copied_at timestamptz not null default now(),
  primary key (company_id, id)
);
create index refunds_occurred on refunds (company_id, occurred_at) where status = 'SUCCEEDED';
create index refunds_account on refunds (company_id, account_id, occurred_at) where status = 'SUCCEEDED';

create index invoices_account on invoices (company_id, account_id, issued_at) where issued_at is not null;

-- What a job that is TRACKED brings into its two reports.
create table job_facts (
  company_id uuid not null,
  id uuid not null,
  reported_at timestamptz not null, -- the instant whose local date is the report date
  account_id uuid not null,
  business_unit_id uuid,
  job_type_id uuid,
  job_class text,
  standing text not null, -- included or excluded, verified or unverified, as in job_summaries
  members uuid[] not null, -- distinct, ascending
  revenue_cents numeric not null,
  labor_cost_cents numeric not null,
  parts_cost_cents numeric not null,
  equipment_cost_cents numeric not null,
  misc_cost_cents numeric not null,
  other_cost_cents numeric not null,
  primary key (company_id, id)
);
create index job_facts_reported on job_facts (company_id, reported_at);
create index job_facts_account on job_facts (company_id, account_id, reported_at);

-- Sums. One row for each day and each month, for the whole company (part `day`, `month`) and for each value of a
-- dimension (part `account/day` …), in the order of the answers. `value` is '~', after every id and code, for what has none,
-- and empty for the whole. `standing` is what is chosen when reading: an invoice's status; whether a job's type is included
-- and its costs are verified. A row whose counts are 0 is removed.
-- Rows belong to a generation: one time zone's days, or one rebuilding.
create table invoice_summaries (
  company_id uuid not null,
  generation integer not null,
  part text collate "C" not null,
  period date not null,
  value text collate "C" not null,
  standing text collate "C" not null,
  invoice_count bigint not null,
  subtotal_cents numeric not null,
  discount_cents numeric not null,
  tax_cents numeric not null,
  primary key (company_id, generation, part, period, value, standing)
);
create table collection_summaries (
  company_id uuid not null,
  generation integer not null,
  part text collate "C" not null,
  period date not null,
  value text collate "C" not null,
  standing text collate "C" not null,
  payment_count bigint not null,
  received_cents numeric not null,
  refund_count bigint not null,
  refunded_cents numeric not null,
  primary key (company_id, generation, part, period, value, standing)
);
create table job_summaries (
  company_id uuid not null,
  generation integer not null,
  part text collate "C" not null,
  period date not null,
  value text collate "C" not null,
  standing text collate "C" not null,
  job_count bigint not null,
  revenue_cents numeric not null,
  labor_cost_cents numeric not null,
  parts_cost_cents numeric not null,
  equipment_cost_cents numeric not null,
  misc_cost_cents numeric not null,
  other_cost_cents numeric not null,
  primary key (company_id, generation, part, period, value, standing)
);
create table participation_summaries (like job_summaries including all);

-- Sums of each month by all dimensions of few values together: what a filter of one and a group of another are read from.
create table invoice_combinations (
  company_id uuid not null,
  generation integer not null,
  period date not null,
  business_unit text collate "C" not null,
  job_type text collate "C" not null,
  job_class text collate "C" not null,
  standing text collate "C" not null,
  invoice_count bigint not null,
  subtotal_cents numeric not null,
  discount_cents numeric not null,
  tax_cents numeric not null,
  primary key (company_id, generation, period, business_unit, job_type, job_class, standing)
);
create table collection_combinations (
  company_id uuid not null,
  generation integer not null,
  period date not null,
  payment_method text collate "C" not null,
  collector text collate "C" not null,
  standing text collate "C" not null,
  payment_count bigint not null,
  received_cents numeric not null,
  refund_count bigint not null,
  refunded_cents numeric not null,
  primary key (company_id, generation, period, payment_method, collector, standing)
);
create table job_combinations (
  company_id uuid not null,
  generation integer not null,
  period date not null,
  business_unit text collate "C" not null,
  job_type text collate "C" not null,
  job_class text collate "C" not null,
  standing text collate "C" not null,
  job_count bigint not null,
  revenue_cents numeric not null,
  labor_cost_cents numeric not null,
  parts_cost_cents numeric not null,
  equipment_cost_cents numeric not null,
  misc_cost_cents numeric not null,
  other_cost_cents numeric not null,
  primary key (company_id, generation, period, business_unit, job_type, job_class, standing)
);
create table participation_combinations (
  company_id uuid not null,
  generation integer not null,
  period date not null,
  job_class text collate "C" not null,
  team_member text collate "C" not null,
  standing text collate "C" not null,
  job_count bigint not null,
  revenue_cents numeric not null,
  labor_cost_cents numeric not null,
  parts_cost_cents numeric not null,
  equipment_cost_cents numeric not null,
  misc_cost_cents numeric not null,
  other_cost_cents numeric not null,
  primary key (company_id, generation, period, job_class, team_member, standing)
);

-- A generation is built in batches beside the one that is read, and takes its place in one transaction.
create table generations (
  company_id uuid not null,
  generation integer not null,
  time_zone text not null,
  state text not null check (state in ('building', 'current', 'retired')),
  stage smallint not null default 0, -- which kind of facts is being added: those before it are in
  after uuid, -- of that kind, the facts up to this id are in
  primary key (company_id, generation)
);
create unique index generations_current on generations (company_id) where state = 'current';
create unique index generations_building on generations (company_id) where state = 'building';
create index generations_unfinished on generations (company_id) where state <> 'current';

-- Companies whose sums are to be built anew: a rebuild was asked for, or something that does not keep sums has changed
-- what they are made of: a replica of the release before, an operator by hand.
create table spoiled_summaries (
  company_id uuid primary key
);

-- Whoever keeps sums says so by a setting of its connections.
create function spoil_summaries() returns trigger language plpgsql as $$
begin
  execute format('insert into %I.spoiled_summaries values ($1) on conflict do nothing', tg_table_schema)
    using coalesce(new.company_id, old.company_id);
  return null;
end $$;
create trigger spoils_summaries after insert or update or delete on invoices
  for each row when (current_setting('truckroll.keeps_summaries', true) is distinct from 'on') execute function spoil_summaries();
create trigger spoils_summaries after insert or update or delete on payments
  for each row when (current_setting('truckroll.keeps_summaries', true) is distinct from 'on') execute function spoil_summaries();
create trigger spoils_summaries after insert or update or delete on refunds
  for each row when (current_setting('truckroll.keeps_summaries', true) is distinct from 'on') execute function spoil_summaries();
create trigger spoils_summaries after insert or update or delete on jobs
  for each row when (current_setting('truckroll.keeps_summaries', true) is distinct from 'on') execute function spoil_summaries();
create trigger spoils_summaries after insert or update or delete on assignments
  for each row when (current_setting('truckroll.keeps_summaries', true) is distinct from 'on') execute function spoil_summaries();
create trigger spoils_summaries after insert or update or delete on job_financials
  for each row when (current_setting('truckroll.keeps_summaries', true) is distinct from 'on') execute function spoil_summaries();

-- Job financials that are to follow a change of their company's settings, in batches by id.
create table financials_to_refresh (
  company_id uuid primary key,
  after uuid
);

-- When the settings were changed that are not applied yet: as_of stays before it.
alter table companies add column changed_at timestamptz;

-- How far each partition was applied, and up to when each owner has published how much: as_of follows from both.
create table positions (
  topic text not null,
  partition integer not null,
  log_offset bigint not null, -- of the last message that was applied
  primary key (topic, partition)
);
create table watermarks (
  source text not null,
  at timestamptz not null,
  positions jsonb not null, -- [{topic, partition, offset}], of the last messages of what was committed before it
  primary key (source, at)
);
create table applied_until (
  source text primary key,
  at timestamptz not null
);

select keep_projection('payments'::regclass);
select keep_projection('refunds'::regclass);
