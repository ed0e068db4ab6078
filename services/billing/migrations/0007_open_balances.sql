-- What the receivables report adds up (decisions §16), from the derived part of an invoice.
alter table invoices add column open_balance_cents bigint;
