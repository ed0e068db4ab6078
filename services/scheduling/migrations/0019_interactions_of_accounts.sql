-- in steps
create index concurrently interactions_account on interactions (company_id, account_id, created_at, id) where account_id is not null;
