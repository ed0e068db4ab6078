-- Reports read sums of days and months, and facts of the days that are due: those whose facts have changed since they were summed
-- (docs/adr/0021). Notes of what is due are appended by triggers, so that every writer is noticed.

-- One row for each statement that changed facts, and UTC date. Appended only: the task deletes the notes that its snapshot saw, and a
-- note of a transaction that is still open stays for the next time.
create table due_notes (
  company_id uuid not null,
  report text not null,
  day date not null,
  noted_at timestamptz not null default now()
);
create index due_notes_company on due_notes (company_id, report, day);

-- What the sums of one report of a company are of. Days before `due_before` are due in full; those are read from sums of `due_version`
-- by questions that need nothing newer. Locked by the replica that sums.
create table summed (
  company_id uuid not null,
  report text not null,
  time_zone text not null,
  version integer not null,
  due_before date,
  due_version integer not null,
  summed_at timestamptz not null default now(),
  primary key (company_id, report)
);

-- Months with days that were summed again since the month was.
create table due_months (
  company_id uuid not null,
  report text not null,
  month date not null,
  changed_at timestamptz not null default now(),
  primary key (company_id, report, month)
);

-- One row for each day and each month, in total (part `day`, `month`) and for each value of a dimension (part `account/day` …), in the
-- order of the answers. `value` is '~' for a missing value and '' for the total. `standing` is chosen when reading: an invoice's
-- status; whether a job's type is included and its costs are verified.
create table invoice_sums (
  company_id uuid not null,
  part text collate "C" not null,
  period date not null,
  value text collate "C" not null,
  standing text collate "C" not null,
  invoice_count bigint not null,
  subtotal_cents numeric not null,
  discount_cents numeric not null,
  tax_cents numeric not null,
  primary key (company_id, part, period, value, standing)
);
create table collection_sums (
  company_id uuid not null,
  part text collate "C" not null,
  period date not null,
  value text collate "C" not null,
  standing text collate "C" not null,
  payment_count bigint not null,
  received_cents numeric not null,
  refund_count bigint not null,
  refunded_cents numeric not null,
  primary key (company_id, part, period, value, standing)
);
create table job_sums (
  company_id uuid not null,
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
  primary key (company_id, part, period, value, standing)
);
create table participation_sums (like job_sums including all);

-- Sums by all dimensions with few values together: what a filter of one and a group of another are read from. `step` is `day` or `month`.
create table invoice_crosses (
  company_id uuid not null,
  step text collate "C" not null,
  period date not null,
  business_unit text collate "C" not null,
  job_type text collate "C" not null,
  job_class text collate "C" not null,
  standing text collate "C" not null,
  invoice_count bigint not null,
  subtotal_cents numeric not null,
  discount_cents numeric not null,
  tax_cents numeric not null,
  primary key (company_id, step, period, business_unit, job_type, job_class, standing)
);
create table collection_crosses (
  company_id uuid not null,
  step text collate "C" not null,
  period date not null,
  payment_method text collate "C" not null,
  collector text collate "C" not null,
  standing text collate "C" not null,
  payment_count bigint not null,
  received_cents numeric not null,
  refund_count bigint not null,
  refunded_cents numeric not null,
  primary key (company_id, step, period, payment_method, collector, standing)
);
create table job_crosses (
  company_id uuid not null,
  step text collate "C" not null,
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
  primary key (company_id, step, period, business_unit, job_type, job_class, standing)
);
create table participation_crosses (
  company_id uuid not null,
  step text collate "C" not null,
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
  primary key (company_id, step, period, job_class, team_member, standing)
);

-- Months by one value of a dimension, in the order of the answer by another: a page is a walk along an index.
create index invoice_months_unit_type on invoice_crosses (company_id, business_unit, period, job_type) where step = 'month';
create index invoice_months_unit_class on invoice_crosses (company_id, business_unit, period, job_class) where step = 'month';
create index invoice_months_type_unit on invoice_crosses (company_id, job_type, period, business_unit) where step = 'month';
create index invoice_months_type_class on invoice_crosses (company_id, job_type, period, job_class) where step = 'month';
create index invoice_months_class_unit on invoice_crosses (company_id, job_class, period, business_unit) where step = 'month';
create index invoice_months_class_type on invoice_crosses (company_id, job_class, period, job_type) where step = 'month';
create index collection_months_method_collector on collection_crosses (company_id, payment_method, period, collector) where step = 'month';
create index collection_months_collector_method on collection_crosses (company_id, collector, period, payment_method) where step = 'month';
create index job_months_unit_type on job_crosses (company_id, business_unit, period, job_type) where step = 'month';
create index job_months_unit_class on job_crosses (company_id, business_unit, period, job_class) where step = 'month';
create index job_months_type_unit on job_crosses (company_id, job_type, period, business_unit) where step = 'month';
create index job_months_type_class on job_crosses (company_id, job_type, period, job_class) where step = 'month';
create index job_months_class_unit on job_crosses (company_id, job_class, period, business_unit) where step = 'month';
create index job_months_class_type on job_crosses (company_id, job_class, period, job_type) where step = 'month';
create index participation_months_class_member on participation_crosses (company_id, job_class, period, team_member) where step = 'month';
create index participation_months_member_class on participation_crosses (company_id, team_member, period, job_class) where step = 'month';

create function refuse_truncate() returns trigger language plpgsql as $$
begin
  raise exception 'TRUNCATE of % would not be noticed by reports: use DELETE', tg_table_name;
end $$;

-- Has the reports' sums follow a table of facts: each statement notes the dates of the facts that it changed. Rows that only
-- count as seen again (copied_at, projection) note nothing. The schema is in the functions because their callers may have another path.
create function note_facts(relation regclass, instant text, reports text[]) returns void language plpgsql as $$
declare
  name text := (select relname from pg_class where oid = relation);
  owner text := (select relnamespace::regnamespace::text from pg_class where oid = relation);
  rows_of text := format('select company_id, (%I at time zone ''UTC'')::date as day from %%s where %I is not null', instant, instant);
  -- Rows of this table as they were and are, without what does not count.
  bare text := '(to_jsonb(%s) - ''copied_at'' - ''projection'')';
  source text;
  event text;
begin
  foreach event in array array['insert', 'update', 'delete'] loop
    source := case event
      when 'insert' then format(rows_of, 'became')
      when 'delete' then format(rows_of, 'was')
      else format($q$select u.company_id, (u.at at time zone 'UTC')::date as day from was o join became n using (company_id, id)
        cross join lateral (values (n.company_id, o.%1$I), (n.company_id, n.%1$I)) u(company_id, at)
        where u.at is not null and %2$s is distinct from %3$s$q$, instant, format(bare, 'o'), format(bare, 'n')) end;
    execute format($f$create function %1$I.note_%2$s_of_%3$s() returns trigger language plpgsql as $b$
      begin
        insert into %1$I.due_notes (company_id, report, day)
          select distinct c.company_id, r.report, c.day from (%4$s) c cross join unnest(%5$L::text[]) r(report);
        return null;
      end $b$
    $f$, owner, event, name, source, reports);
    execute format('create trigger note_%1$s after %1$s on %2$s referencing %3$s for each statement execute function %4$I.note_%1$s_of_%5$s()',
      event, relation, case event when 'insert' then 'new table as became' when 'delete' then 'old table as was'
        else 'old table as was new table as became' end, owner, name);
  end loop;
  execute format('create trigger refuse_truncate before truncate on %s for each statement execute function %I.refuse_truncate()', relation, owner);
end $$;
select note_facts('invoices', 'issued_at', '{invoice}');
select note_facts('payments', 'occurred_at', '{collection}');
select note_facts('refunds', 'occurred_at', '{collection}');
select note_facts('job_facts', 'reported_at', '{job,participation}');

-- Calls a trigger function after each statement that changes the table, with the rows as `changed`.
create function follow_changes(relation regclass, name text, only_when text) returns void language plpgsql as $$
declare
  owner text := (select relnamespace::regnamespace::text from pg_class where oid = relation);
  event text;
begin
  foreach event in array array['insert', 'update', 'delete'] loop
    execute format('create trigger %1$s_after_%2$s after %2$s on %3$s referencing %4$s table as changed for each statement when (%5$s) execute function %6$I.%1$s()',
      name, event, relation, case event when 'delete' then 'old' else 'new' end, only_when, owner);
  end loop;
end $$;

-- Facts and financials of jobs are derived by transactions that say so. After changes of their sources by anything else, such as an
-- operator's SQL, those of the whole company are derived again.
create function derive_jobs_again() returns trigger language plpgsql as $$
begin
  execute format('insert into %I.financials_to_refresh (company_id) select distinct company_id from changed
    on conflict (company_id) do update set after = null', tg_table_schema);
  return null;
end $$;
select follow_changes(name::regclass, 'derive_jobs_again',
  $$current_setting('truckroll.derives_job_facts', true) is distinct from 'on' and kept_summaries() = 0$$)
from unnest(array['jobs', 'assignments', 'invoices', 'job_financials']) name;

-- What is left of this file is for a rollback to release 1.3.0, whose sums this release does not keep, and goes with the tables of those
-- sums. A write that keeps none spoils them, as before, but once for a statement instead of each row.
drop trigger spoils_summaries on invoices;
drop trigger spoils_summaries on payments;
drop trigger spoils_summaries on refunds;
drop trigger spoils_summaries on jobs;
drop trigger spoils_summaries on assignments;
drop trigger spoils_summaries on job_financials;
create function create_spoil_changed() returns void language plpgsql as $$
begin
  execute format('create function %1$I.spoil_changed() returns trigger language plpgsql as $b$
    begin
      insert into %1$I.spoiled_summaries select distinct company_id from changed on conflict do nothing;
      return null;
    end $b$', current_schema());
end $$;
select create_spoil_changed();
select follow_changes(name::regclass, 'spoil_changed', 'kept_summaries() = 0')
from unnest(array['invoices', 'payments', 'refunds', 'jobs', 'assignments', 'job_financials', 'job_facts']) name;
create trigger spoils_summaries after update on companies for each row
  when (old.time_zone is distinct from new.time_zone and kept_summaries() = 0) execute function spoil_summaries();
