alter table webhook_recoveries add column company_id uuid, replica identity full;
create trigger finds_company before insert on webhook_recoveries
  for each row when (new.company_id is null) execute function find_company_of_endpoint();
