-- Payments and refunds are published from this release on. What a replica of the release before changes meanwhile is noted,
-- and published by one of this release. Whoever publishes says so by a setting of its connections.
create function note_unpublished() returns trigger language plpgsql as $$
begin
  execute format('insert into %I.unpublished (path, company_id, id) values ($1, $2, $3) on conflict do nothing', tg_table_schema)
    using tg_table_name, new.company_id, new.id;
  return null;
end $$;
create trigger notes_unpublished after insert or update on payments
  for each row when (current_setting('truckroll.publishes', true) is distinct from 'on') execute function note_unpublished();
create trigger notes_unpublished after insert or update on refunds
  for each row when (current_setting('truckroll.publishes', true) is distinct from 'on') execute function note_unpublished();
