-- in steps
-- A filter of one value and a group of another dimension is a walk along an index that ends with the page.
create index concurrently invoice_combinations_unit_type on invoice_combinations (company_id, generation, business_unit, period, job_type);
create index concurrently invoice_combinations_unit_class on invoice_combinations (company_id, generation, business_unit, period, job_class);
create index concurrently invoice_combinations_type_unit on invoice_combinations (company_id, generation, job_type, period, business_unit);
create index concurrently invoice_combinations_type_class on invoice_combinations (company_id, generation, job_type, period, job_class);
create index concurrently invoice_combinations_class_unit on invoice_combinations (company_id, generation, job_class, period, business_unit);
create index concurrently invoice_combinations_class_type on invoice_combinations (company_id, generation, job_class, period, job_type);
create index concurrently collection_combinations_method_collector on collection_combinations (company_id, generation, payment_method, period, collector);
create index concurrently collection_combinations_collector_method on collection_combinations (company_id, generation, collector, period, payment_method);
create index concurrently job_combinations_unit_type on job_combinations (company_id, generation, business_unit, period, job_type);
create index concurrently job_combinations_unit_class on job_combinations (company_id, generation, business_unit, period, job_class);
create index concurrently job_combinations_type_unit on job_combinations (company_id, generation, job_type, period, business_unit);
create index concurrently job_combinations_type_class on job_combinations (company_id, generation, job_type, period, job_class);
create index concurrently job_combinations_class_unit on job_combinations (company_id, generation, job_class, period, business_unit);
create index concurrently job_combinations_class_type on job_combinations (company_id, generation, job_class, period, job_type);
create index concurrently participation_combinations_class_member on participation_combinations (company_id, generation, job_class, period, team_member);
create index concurrently participation_combinations_member_class on participation_combinations (company_id, generation, team_member, period, job_class);

-- Those above begin with them.
drop index concurrently if exists invoice_combinations_job_type;
drop index concurrently if exists invoice_combinations_job_class;
drop index concurrently if exists collection_combinations_collector;
drop index concurrently if exists job_combinations_job_type;
drop index concurrently if exists job_combinations_job_class;
drop index concurrently if exists participation_combinations_team_member;
