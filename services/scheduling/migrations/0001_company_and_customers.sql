-- The records of scheduling. A row is a record: `document` holds what was recorded, `derived` what follows from other
-- records, and the columns what filters, order and rules look at (docs/adr/0001).
-- Every index begins with the company and ends in the list's order, so that a filtered page is one short walk; an index
-- on an instant or a day that only bounds a list ends there. The index of the order itself also holds those instants and
-- days: a page that begins far into the list passes over what lies out of bounds without looking at the rows.

create table team_members (
  company_id uuid not null,
  id uuid not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  status text not null,
  role text not null,
  business_unit_id uuid,
  assignable boolean not null,
  document bytea not null,
  derived bytea,
  primary key (company_id, id)
);
create index team_members_order on team_members (company_id, created_at, id, updated_at);
create index team_members_updated on team_members (company_id, updated_at);
create index team_members_status on team_members (company_id, status, created_at, id);
create index team_members_role on team_members (company_id, role, created_at, id);
create index team_members_business_unit on team_members (company_id, business_unit_id, created_at, id) where business_unit_id is not null;
create index team_members_assignable on team_members (company_id, assignable, created_at, id);

create table business_units (
  company_id uuid not null,
  id uuid not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  archived boolean not null,
  document bytea not null,
  derived bytea,
  primary key (company_id, id)
);
create index business_units_order on business_units (company_id, created_at, id, updated_at);
create index business_units_updated on business_units (company_id, updated_at);
create index business_units_archived on business_units (company_id, archived, created_at, id);

create table lead_sources (
  company_id uuid not null,
  id uuid not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  archived boolean not null,
  category text,
  document bytea not null,
  derived bytea,
  primary key (company_id, id)
);
create index lead_sources_order on lead_sources (company_id, created_at, id, updated_at);
create index lead_sources_updated on lead_sources (company_id, updated_at);
create index lead_sources_archived on lead_sources (company_id, archived, created_at, id);
create index lead_sources_category on lead_sources (company_id, category, created_at, id) where category is not null;

create table tags (
  company_id uuid not null,
  id uuid not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  archived boolean not null,
  document bytea not null,
  derived bytea,
  primary key (company_id, id)
);
create index tags_order on tags (company_id, created_at, id, updated_at);
create index tags_updated on tags (company_id, updated_at);
create index tags_archived on tags (company_id, archived, created_at, id);

-- tags?applies_to
create table tag_targets (
  company_id uuid not null,
  value text not null,
  created_at timestamptz not null,
  id uuid not null,
  primary key (company_id, value, created_at, id)
);
create index tag_targets_record on tag_targets (company_id, id);

create table accounts (
  company_id uuid not null,
  id uuid not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  type text not null,
  archived boolean not null,
  lead_source_id uuid,
  document bytea not null,
  derived bytea,
  primary key (company_id, id)
);
create index accounts_order on accounts (company_id, created_at, id, updated_at);
create index accounts_updated on accounts (company_id, updated_at);
create index accounts_type on accounts (company_id, type, created_at, id);
create index accounts_archived on accounts (company_id, archived, created_at, id);
create index accounts_lead_source on accounts (company_id, lead_source_id, created_at, id) where lead_source_id is not null;

-- accounts?tag_id
create table account_tags (
  company_id uuid not null,
  value uuid not null,
  created_at timestamptz not null,
  id uuid not null,
  primary key (company_id, value, created_at, id)
);
create index account_tags_record on account_tags (company_id, id);

-- accounts?location_id: the other side of location_accounts
create table account_locations (
  company_id uuid not null,
  value uuid not null,
  created_at timestamptz not null,
  id uuid not null,
  primary key (company_id, value, created_at, id)
);
create index account_locations_record on account_locations (company_id, id);

create table contacts (
  company_id uuid not null,
  id uuid not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  account_id uuid not null,
  archived boolean not null,
  document bytea not null,
  derived bytea,
  primary key (company_id, id)
);
create index contacts_order on contacts (company_id, created_at, id, updated_at);
create index contacts_updated on contacts (company_id, updated_at);
create index contacts_account on contacts (company_id, account_id, created_at, id);
create index contacts_archived on contacts (company_id, archived, created_at, id);

create table locations (
  company_id uuid not null,
  id uuid not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  address_postal_code text,
  document bytea not null,
  derived bytea,
  primary key (company_id, id)
);
create index locations_order on locations (company_id, created_at, id, updated_at);
create index locations_updated on locations (company_id, updated_at);
create index locations_postal_code on locations (company_id, address_postal_code, created_at, id) where address_postal_code is not null;

-- locations?account_id
create table location_accounts (
  company_id uuid not null,
  value uuid not null,
  created_at timestamptz not null,
  id uuid not null,
  primary key (company_id, value, created_at, id)
);
create index location_accounts_record on location_accounts (company_id, id);
