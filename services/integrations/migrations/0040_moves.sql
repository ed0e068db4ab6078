-- The move of a company to another database, or from one (docs/adr/0028). Both databases have a row; the source's says which step is next.
create table moves (
  company_id uuid primary key,
  -- Whether the company arrives here, or leaves.
  arrives boolean not null,
  -- The other database.
  other text not null,
  step text not null,
  began_at timestamptz not null default now()
);
