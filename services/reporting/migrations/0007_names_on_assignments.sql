-- in steps
-- A member of whom there is no record is called by the name on an assignment: found by the member, whatever the company's size.
create index concurrently assignments_member on assignments (company_id, team_member_id, team_member_name);
