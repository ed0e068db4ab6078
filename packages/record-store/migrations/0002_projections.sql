-- Which rows were projected by the rules of now, and which must be projected again (docs/adr/0005).

-- The releases of a service's rules that have been put to work on this schema. A later one has a greater number.
create table projection_release (
  version int primary key,
  raised_at timestamptz not null default clock_timestamp()
);

-- What a release writes whose rules are not the newest here, or that says nothing of its rules, counts as older than
-- every version, whatever it wrote: raise_projections puts the newest into this function.
create function guard_projection() returns trigger language plpgsql as $$
begin
  return new;
end $$;

-- A release begins: from here on, releases with a smaller number are older ones.
create function raise_projections(newest int) returns void language plpgsql as $$
begin
  insert into projection_release (version) values (newest);
  execute format($body$
    create or replace function guard_projection() returns trigger language plpgsql as $guard$
    begin
      if coalesce(nullif(current_setting('truckroll.projection', true), '')::int, 0) < %s then
        new.projection := 0;
      end if;
      return new;
    end $guard$
  $body$, newest);
end $$;

-- Gives a table of records or copies the version that its rows were projected by. Rows that are there already have 1.
-- The index finds the oldest row of a company by one step, for every company in turn.
create function keep_projection(relation regclass) returns void language plpgsql as $$
begin
  execute format('alter table %s add column projection smallint not null default 1', relation);
  execute format('alter table %s alter column projection set default 0', relation);
  execute format('create index %I on %s (company_id, projection)', relation || '_projection', relation);
  execute format('create trigger guard_projection before insert or update on %s for each row execute function guard_projection()', relation);
end $$;
