-- in steps
-- The rows that refer to a user, who can be deleted with a company (docs/adr/0024): PostgreSQL looks for them at each deletion.
create index concurrently mails_of_user on mails (user_id);
create index concurrently views_of_user on views (user_id);
create index concurrently webhook_endpoints_of_maker on webhook_endpoints (created_by);
