-- The field of a job financial whose value is beyond what cents hold: its read names it instead of showing it.
alter table job_financials add column unshown text;
