-- in steps
-- A page of records in which a reference is missing is one walk in the order of the list.
create index concurrently invoices_without_job on invoices (company_id, created_at, id) where job_id is null;
create index concurrently invoices_without_location on invoices (company_id, created_at, id) where location_id is null;
create index concurrently invoices_without_business_unit on invoices (company_id, created_at, id) where business_unit_id is null;
create index concurrently invoices_without_job_type on invoices (company_id, created_at, id) where job_type_id is null;
create index concurrently invoices_without_job_class on invoices (company_id, created_at, id) where job_class is null;
create index concurrently invoices_without_created_by on invoices (company_id, created_at, id) where created_by_id is null;
create index concurrently payments_without_collected_by on payments (company_id, created_at, id) where collected_by_id is null;
create index concurrently refunds_without_collected_by on refunds (company_id, created_at, id) where collected_by_id is null;
create index concurrently refunds_collected_by on refunds (company_id, collected_by_id, created_at, id) where collected_by_id is not null;
