-- Companies whose rows are here and whose requests are not served here (docs/adr/0029). Empty without cells.
create table company_places (
  company_id uuid primary key,
  -- The cell in which the company lives; null while it is being switched from one to another.
  cell text
);
