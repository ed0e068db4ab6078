-- What a company's clients added to its histories today, and e-mails to its users, over all replicas (decisions §17). One
-- row for each, which begins anew on another day (UTC).
create table company_budgets (
  company_id uuid not null,
  -- `audit`, `tests`, `answers`: bytes. `mail <user id>`: e-mails to the user.
  budget text not null,
  day date not null,
  used bigint not null,
  primary key (company_id, budget)
) with (fillfactor = 50);
