-- in steps
create index concurrently jobs_number on jobs (company_id, number, created_at, id) where number is not null;
create index concurrently job_leads_number on job_leads (company_id, number, created_at, id) where number is not null;
create index concurrently job_appointments_number on job_appointments (company_id, number, created_at, id) where number is not null;
