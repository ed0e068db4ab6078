-- in steps
create index concurrently service_requests_projection on service_requests (company_id, projection);
create index concurrently service_requests_unbooked on service_requests (company_id) where unbooked;
