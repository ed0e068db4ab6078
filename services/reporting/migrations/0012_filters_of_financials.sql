-- in steps
create index concurrently assignments_member_job on assignments (company_id, team_member_id, job_id);
create index concurrently job_financials_account on job_financials (company_id, account_id, id);
create index concurrently job_financials_standing on job_financials (company_id, standing, id);
create index concurrently job_financials_without_business_unit on job_financials (company_id, id) where business_unit_id is null;
create index concurrently job_financials_without_job_type on job_financials (company_id, id) where job_type_id is null;
create index concurrently job_financials_without_job_class on job_financials (company_id, id) where job_class is null;
