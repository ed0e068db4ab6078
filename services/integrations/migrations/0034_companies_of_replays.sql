alter table webhook_replays add column company_id uuid, replica identity full,
  -- A number is of one database (docs/adr/0025).
  drop constraint webhook_replays_pkey, add constraint webhook_replays_identity primary key using index webhook_replays_identity;
create trigger finds_company before insert on webhook_replays
  for each row when (new.company_id is null) execute function find_company_of_endpoint();
