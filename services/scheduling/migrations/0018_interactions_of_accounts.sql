-- Interactions are listed by account (docs/adr/0005).
alter table interactions add column account_id uuid;
