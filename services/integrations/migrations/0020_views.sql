-- Views of the console that users have saved (decisions §19).
create table views (
  company_id uuid not null,
  user_id uuid not null references users (id),
  name text not null,
  query text not null check (octet_length(query) <= 2000),
  shared boolean not null,
  saved_at timestamptz not null default now(),
  primary key (company_id, user_id, name)
);
create index views_shared on views (company_id, name, user_id) where shared;
