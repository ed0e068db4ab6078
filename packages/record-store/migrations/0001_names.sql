-- The latest names of records that others refer to. Kind is the public path: accounts, team-members …
create table names (
  company_id uuid not null,
  kind text not null,
  id uuid not null,
  name text not null,
  version bigint not null,
  primary key (company_id, kind, id)
);
