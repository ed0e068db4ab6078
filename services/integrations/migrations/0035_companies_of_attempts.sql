-- Partitions get their replica identity in src/webhooks/log/partitions.ts. Attempts stored before this migration have no company.
alter table webhook_attempts add column company_id uuid;
create function find_company_of_delivery() returns trigger language plpgsql as $$
begin
  select company_id into new.company_id from webhook_deliveries where day = new.day and id = new.delivery_id;
  return new;
end $$;
create trigger finds_company before insert on webhook_attempts
  for each row when (new.company_id is null) execute function find_company_of_delivery();
