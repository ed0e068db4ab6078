-- Fills the read models of reporting as its subscriber would. :company, :invoices, :jobs and :accounts are
-- replaced before it runs. Draws are the same in every run; ids are in no order of time, like real ones.
create function pg_temp.draw(number bigint, salt integer, below integer) returns integer language sql immutable as
  $$ select ((hashint8extended(number, salt) & 2147483647) % below)::integer $$;
create function pg_temp.id(kind text, number bigint) returns uuid language sql immutable as $$ select md5(kind || number)::uuid $$;

-- Customer, kind of work, time and amount of a job or of an invoice without a job. Some customers come much more often than
-- others; most records have the unit and the class that are usual for their job type; some have no job type.
create temporary table works as
select n, pg_temp.id('account', floor(power(pg_temp.draw(n, 1, 1000000) / 1000000.0, 1.5) * :accounts)::bigint) as account,
  pg_temp.id('unit', case when unusual < 10 then pg_temp.draw(n, 4, 12) else type % 12 end) as unit,
  case when unusual <> 50 then pg_temp.id('type', type) end as type,
  ('{SERVICE,INSTALL,MAINTENANCE,SALES}'::text[])[1 + case when unusual >= 90 then pg_temp.draw(n, 5, 4) else type % 4 end] as class,
  -- Ends early enough that payments and refunds of an invoice fall in the same years.
  timestamptz '2021-01-01T12:00Z' + pg_temp.draw(n, 6, 1785 * 86400) * interval '1 second' as at,
  case when status < 78 then 'PAID' when status < 94 then 'OPEN' when status < 97 then 'VOIDED' else 'UNCOLLECTABLE' end as status,
  5000 + pg_temp.draw(n, 8, 400000) as cents
from (select n, pg_temp.draw(n, 2, 40) as type, pg_temp.draw(n, 3, 100) as unusual, pg_temp.draw(n, 7, 100) as status
  from generate_series(0, :invoices - 1) n) drawn;

-- The first invoices belong to a job each; the others have no job, like maintenance fees.
insert into invoices (company_id, projection, id, job_id, number, status, issued_at, created_at, account_id, business_unit_id, job_type_id, job_class,
  subtotal_cents, discount_cents, tax_cents)
select :company, 1, pg_temp.id('invoice', n), case when n < :jobs then pg_temp.id('job', n) end, 'INV-' || n + 1, status, at, at, account, unit, type, class,
  cents, pg_temp.draw(n, 9, 500), cents / 12 from works;

insert into payments (company_id, projection, id, status, method, account_id, collected_by_id, amount_cents, occurred_at)
select :company, 1, pg_temp.id('payment', n), case when pg_temp.draw(n, 12, 20) = 0 then 'FAILED' else 'PAID' end,
  ('{CARD,CARD,CARD,ACH,ACH,CHECK,CASH,PAYPAL}'::text[])[1 + n % 8], account,
  case when pg_temp.draw(n, 10, 10) > 0 then pg_temp.id('member', pg_temp.draw(n, 11, 60)) end,
  cents, at + pg_temp.draw(n, 13, 700) * interval '1 hour' from works;

insert into refunds (company_id, projection, id, status, payment_method, account_id, collected_by_id, amount_cents, occurred_at)
select :company, 1, pg_temp.id('refund', n), 'SUCCEEDED', ('{CARD,ACH}'::text[])[1 + n % 2], account, pg_temp.id('member', pg_temp.draw(n, 11, 60)),
  pg_temp.draw(n, 14, cents), at + interval '720 hours' from works where n % 50 = 0;

insert into job_facts (company_id, id, reported_at, account_id, business_unit_id, job_type_id, job_class, standing, members, revenue_cents,
  labor_cost_cents, parts_cost_cents, equipment_cost_cents, misc_cost_cents, other_cost_cents)
select :company, pg_temp.id('job', n), at, account, unit, type, class,
  case when type is null or pg_temp.draw(n, 21, 20) = 0 then 'excluded_' else 'included_' end
    || case when pg_temp.draw(n, 20, 10) < 7 then 'verified' else 'unverified' end,
  array(select distinct pg_temp.id('member', pg_temp.draw(n, 16 + i, 60)) as id from generate_series(0, pg_temp.draw(n, 15, 2)) i order by id),
  case when status in ('OPEN', 'PAID') then cents else 0 end, pg_temp.draw(n, 22, 60000), pg_temp.draw(n, 23, 60000), pg_temp.draw(n, 24, 60000),
  pg_temp.draw(n, 25, 60000), 0 from works where n < :jobs;
