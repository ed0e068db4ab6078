-- The company of what only names an endpoint or a delivery, so that a publication can select its rows (docs/adr/0025). Here and in the
-- migrations that follow, one table in each, because all are locked until the end of theirs.
alter table webhook_queue add column company_id uuid, replica identity full;

-- For rows that a replica of the release before stores.
create function find_company_of_endpoint() returns trigger language plpgsql as $$
begin
  select company_id into new.company_id from webhook_endpoints where id = new.endpoint_id;
  return new;
end $$;
create trigger finds_company before insert on webhook_queue
  for each row when (new.company_id is null) execute function find_company_of_endpoint();
