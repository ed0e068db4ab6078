-- in steps
-- Indexes that identify a row to a replica by its company or endpoint too (docs/adr/0025). Some replace one that began with the same columns.
create unique index concurrently users_identity on users (company_id, created_at, id);
create unique index concurrently api_keys_identity on api_keys (company_id, created_at, id);
-- Includes deleted endpoints.
create unique index concurrently webhook_endpoints_identity on webhook_endpoints (company_id, id);
-- Rows of two databases may have the same number.
create unique index concurrently mails_identity on mails (company_id, created_at, message_id);
-- The release before finds e-mails by it.
create index concurrently mails_by_number on mails (id);
create unique index concurrently webhook_replays_identity on webhook_replays (endpoint_id, id);
drop index concurrently if exists users_of_company;
drop index concurrently if exists api_keys_of_company;
drop index concurrently if exists webhook_replays_of_endpoint;
