-- The company of what only names an endpoint or a delivery, so that a publication can select its rows (docs/adr/0025). Partitions of the
-- log get their replica identity in src/webhooks/log/partitions.ts. Attempts stored before this migration have no company.
alter table webhook_queue add column company_id uuid, replica identity full;
alter table webhook_attempts add column company_id uuid;
alter table webhook_recoveries add column company_id uuid, replica identity full;
alter table webhook_replays add column company_id uuid, replica identity full;

-- For rows that a replica of the release before stores.
create function find_company_of_endpoint() returns trigger language plpgsql as $$
begin
  select company_id into new.company_id from webhook_endpoints where id = new.endpoint_id;
  return new;
end $$;
create trigger finds_company before insert on webhook_queue
  for each row when (new.company_id is null) execute function find_company_of_endpoint();
create trigger finds_company before insert on webhook_recoveries
  for each row when (new.company_id is null) execute function find_company_of_endpoint();
create trigger finds_company before insert on webhook_replays
  for each row when (new.company_id is null) execute function find_company_of_endpoint();

create function find_company_of_delivery() returns trigger language plpgsql as $$
begin
  select company_id into new.company_id from webhook_deliveries where day = new.day and id = new.delivery_id;
  return new;
end $$;
create trigger finds_company before insert on webhook_attempts
  for each row when (new.company_id is null) execute function find_company_of_delivery();
