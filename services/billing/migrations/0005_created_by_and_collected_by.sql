-- Columns of the filters invoices?missing=created_by, refunds?collected_by_id and refunds?missing (decisions §16).
alter table invoices add column created_by_id uuid;
alter table refunds add column collected_by_id uuid;
