-- Sums have versions (SUMMARIES_VERSION in src/summaries/definitions.ts). A release keeps what was added up up to its own
-- version. Sums that it writes during an upgrade lack what the newer release adds, so the database lowers their version.

-- What is there already was added up by version 1.
alter table generations add column version integer not null default 1;

-- The version that a transaction keeps; 0 for one that keeps none. Release 1.0.0 says 'on' for version 1.
create function kept_summaries() returns integer language sql stable as $$
  select coalesce(nullif(replace(current_setting('truckroll.keeps_summaries', true), 'on', '1'), ''), '0')::integer
$$;

-- The newest version here. Replacing a function locks no table, as changing the conditions of triggers would.
create function newest_summaries() returns integer language sql stable as 'select 1';

-- A version begins: from here on, releases with a smaller one are older.
create function raise_summaries(newest integer) returns void language plpgsql as $$
begin
  execute format('create or replace function newest_summaries() returns integer language sql stable as %L', 'select ' || newest);
end $$;

-- What keeps no sums leaves all of them wrong; what keeps an older version leaves those wrong that are newer.
create or replace function spoil_summaries() returns trigger language plpgsql as $$
declare
  company uuid := coalesce(new.company_id, old.company_id);
  kept integer;
begin
  execute format('select %I.kept_summaries()', tg_table_schema) into kept;
  if kept = 0 then
    execute format('insert into %I.spoiled_summaries values ($1) on conflict do nothing', tg_table_schema) using company;
  else
    execute format('update %I.generations set version = $2 where company_id = $1 and version > $2 and state <> ''retired''', tg_table_schema)
      using company, kept;
  end if;
  return null;
end $$;
create or replace trigger spoils_summaries after insert or update or delete on invoices
  for each row when (kept_summaries() < newest_summaries()) execute function spoil_summaries();
create or replace trigger spoils_summaries after insert or update or delete on payments
  for each row when (kept_summaries() < newest_summaries()) execute function spoil_summaries();
create or replace trigger spoils_summaries after insert or update or delete on refunds
  for each row when (kept_summaries() < newest_summaries()) execute function spoil_summaries();
create or replace trigger spoils_summaries after insert or update or delete on jobs
  for each row when (kept_summaries() < newest_summaries()) execute function spoil_summaries();
create or replace trigger spoils_summaries after insert or update or delete on assignments
  for each row when (kept_summaries() < newest_summaries()) execute function spoil_summaries();
create or replace trigger spoils_summaries after insert or update or delete on job_financials
  for each row when (kept_summaries() < newest_summaries()) execute function spoil_summaries();

-- An older release also takes its turn at building a generation that a newer one began.
create function lower_generation() returns trigger language plpgsql as $$
begin
  execute format('select %I.kept_summaries()', tg_table_schema) into new.version;
  return new;
end $$;
create trigger lowers_generation before insert or update on generations
  for each row when (kept_summaries() between 1 and new.version - 1) execute function lower_generation();
