-- in steps
create index concurrently estimates_number on estimates (company_id, number, created_at, id) where number is not null;
create index concurrently invoices_number on invoices (company_id, number, created_at, id) where number is not null;
create index concurrently payments_number on payments (company_id, number, created_at, id) where number is not null;
create index concurrently invoices_due on invoices (company_id, due_at) where due_at is not null;
