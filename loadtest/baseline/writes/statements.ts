// The statements of the baseline's two writes, named so that each connection plans them once.
import type pg from 'pg';

const statement =
  (name: string) =>
  (text: string) =>
  (values: readonly unknown[]): pg.QueryConfig => ({ name, text, values: [...values] });

export const COMPANY_OF_KEY = statement('company_of_key')(`
  select k.company_id as id, k.user_id, c.time_zone, c.writes_per_minute
  from api_keys k join companies c on c.id = k.company_id where k.hash = $1 and k.revoked_at is null`);

export const CLAIM = statement('claim')(`
  insert into idempotency_keys (company_id, user_id, key, fingerprint) values ($1, $2, $3, $4) on conflict do nothing`);
export const ANSWERED = statement('answered')(`
  select fingerprint, status, location, response from idempotency_keys where company_id = $1 and user_id = $2 and key = $3`);
export const ANSWER = statement('answer')(`
  update idempotency_keys set status = $4, location = $5, response = $6 where company_id = $1 and user_id = $2 and key = $3`);

export const HOLD_VISIT = statement('hold_visit')(`
  select v.*, cb.name as created_by_name, j.number as job_number, j.summary as job_summary, j.job_class,
    j.account_id, a.name as account_name, j.contact_id, ct.name as contact_name, j.business_unit_id, b.name as business_unit_name,
    j.job_type_id, t.name as job_type_name, j.location_id, l.name as location_name, l.address, l.latitude, l.longitude
  from visits v
  join jobs j on j.company_id = $1 and j.id = v.job_id
  left join team_members cb on cb.company_id = $1 and cb.id = v.created_by_id
  left join accounts a on a.company_id = $1 and a.id = j.account_id
  left join contacts ct on ct.company_id = $1 and ct.id = j.contact_id
  left join business_units b on b.company_id = $1 and b.id = j.business_unit_id
  left join job_types t on t.company_id = $1 and t.id = j.job_type_id
  left join locations l on l.company_id = $1 and l.id = j.location_id
  where v.company_id = $1 and v.id = $2 for no key update of v`);
export const VISIT_OF = statement('visit_of')(`select visit_id from assignments where company_id = $1 and id = $2`);
export const MEMBER = statement('member')(`select id, name from team_members where company_id = $1 and id = $2 and status = 'ACTIVE' and assignable`);
export const ASSIGNMENTS = statement('assignments')(`
  select s.id, s.job_id, s.visit_id as appointment_id, s.team_member_id, m.name as team_member_name, s.starts_at, s.ends_at, s.status,
    s.status_updated_at, s.created_at, s.updated_at from assignments s
  left join team_members m on m.company_id = $1 and m.id = s.team_member_id
  where s.company_id = $1 and s.visit_id = $2 order by s.starts_at, s.id`);

export const ADD = statement('add')(`
  insert into assignments (company_id, id, job_id, visit_id, team_member_id, starts_at, ends_at, status, status_updated_at, created_at)
  values ($1, $2, $3, $4, $5, $6, $7, 'TO_DO', $8, $8)`);
export const REMOVE = statement('remove')(`delete from assignments where company_id = $1 and id = $2`);
export const CHANGE_VISIT = statement('change_visit')(
  `update visits set revision = $3, dispatch_status = $4, event_sequence = $5 where company_id = $1 and id = $2`,
);
export const APPEND = statement('append')(`
  insert into outbox (event_id, topic, key, type, company_id, sequence, payload) values
    ($1, 'scheduling', $2, $3, $4, $10, $5), ($6, 'assignments', $7, $8, $4, null, $9)`);
