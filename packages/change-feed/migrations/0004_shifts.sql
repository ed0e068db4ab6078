-- Companies that have moved to this database. Their versions are shown as others than the stored ones, so that cursors of the database that
-- they left stay valid (docs/adr/0027). A company that has always been here has no row.
create table shifts (
  company_id uuid primary key,
  added bigint not null, -- to each stored version, when it is shown
  -- Shown versions: the least of any record, unless this database is restored, and the least of records that are the same in every company.
  lowest bigint not null,
  shared_from bigint not null,
  -- The epoch here when the company arrived, null before; and what is added to the epoch when it is shown.
  arrived_epoch bigint,
  epochs bigint not null
);

-- Triggers that are made for one move call these for rows that arrive from the other database. The argument is subtracted.
create function shift_record() returns trigger language plpgsql as $$
begin
  new.change_version = new.change_version - tg_argv[0]::bigint;
  return new;
end $$;

create function shift_change() returns trigger language plpgsql as $$
begin
  new.version = new.version - tg_argv[0]::bigint;
  return new;
end $$;

-- Versions of events say nothing here. Every event of this database is newer than what arrives.
create function forget_version() returns trigger language plpgsql as $$
begin
  new.version = 0;
  return new;
end $$;
