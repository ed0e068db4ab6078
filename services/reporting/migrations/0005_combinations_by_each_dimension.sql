-- A filter of a dimension that does not come first in the key reads only that value's rows of a month, not the whole month.
create index invoice_combinations_job_type on invoice_combinations (company_id, generation, job_type, period);
create index invoice_combinations_job_class on invoice_combinations (company_id, generation, job_class, period);
create index collection_combinations_collector on collection_combinations (company_id, generation, collector, period);
create index job_combinations_job_type on job_combinations (company_id, generation, job_type, period);
create index job_combinations_job_class on job_combinations (company_id, generation, job_class, period);
create index participation_combinations_team_member on participation_combinations (company_id, generation, team_member, period);
