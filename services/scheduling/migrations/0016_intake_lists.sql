-- in steps
create index concurrently interactions_projection on interactions (company_id, projection);
create index concurrently interactions_newest on interactions (company_id, created_at, id);
create index concurrently interactions_status on interactions (company_id, status, created_at, id);
create index concurrently service_requests_newest on service_requests (company_id, created_at, id);
create index concurrently service_requests_status on service_requests (company_id, status, created_at, id);
