-- Runs over stored records (docs/adr/0019), one for each task and subject, which is a kind of record. A run continues
-- after (company_id, after). The transaction of each batch locks the row.
create table catch_up (
  task text not null,
  subject text not null,
  company_id uuid default '00000000-0000-0000-0000-000000000000',
  after uuid default '00000000-0000-0000-0000-000000000000',
  processed bigint not null default 0, -- in this run
  done boolean not null default false, -- this run
  complete boolean not null default false, -- a run has ended: this opens gates
  primary key (task, subject)
);
