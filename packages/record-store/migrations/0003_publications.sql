-- How far an owner has published what it holds, by public path: at the first start of a release that publishes a kind of
-- record, and again when an operator asks (`truckroll publish`). Whoever goes on begins after (company_id, after).
create table publications (
  path text primary key,
  company_id uuid,
  after uuid,
  published bigint not null default 0, -- in this pass
  done boolean not null default false, -- this pass
  complete boolean not null default false -- a pass has ended: since then every change is published with itself
);

-- Records that a replica of a release before this one has changed without publishing them.
create table unpublished (
  path text not null,
  company_id uuid not null,
  id uuid not null,
  primary key (path, company_id, id)
);
