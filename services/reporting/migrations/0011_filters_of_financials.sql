-- Columns of the filters account_id and eligible, and what team_member_id looks in (decisions §16).
alter table job_financials add column account_id uuid, add column standing text;
create view job_financial_members as select distinct company_id, team_member_id as value, job_id as id from assignments;
