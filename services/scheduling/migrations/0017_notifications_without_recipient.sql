-- A notification that is suppressed at acceptance is stored too, with its reason (decisions §17): it may have no recipient.
alter table notifications
  alter column account_id drop not null,
  alter column contact_id drop not null,
  alter column channel drop not null,
  alter column address drop not null;
