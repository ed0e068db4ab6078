-- in steps
-- Indexes that identify a row to a replica by its company too (docs/adr/0025). Each replaces one that began with the same columns.
create unique index concurrently users_identity on users (company_id, created_at, id);
create unique index concurrently api_keys_identity on api_keys (company_id, created_at, id);
create unique index concurrently webhook_endpoints_identity on webhook_endpoints (company_id, id);
create unique index concurrently mails_identity on mails (company_id, id);
drop index concurrently if exists users_of_company;
drop index concurrently if exists api_keys_of_company;
drop index concurrently if exists webhook_endpoints_of_any_state;
drop index concurrently if exists mails_of_company;
