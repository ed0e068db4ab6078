-- How often a user has asked for it again: at most twenty times (decisions §12).
alter table webhook_deliveries add column redeliveries integer not null default 0;
