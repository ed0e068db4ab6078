-- Companies of generated records, whose answers and events say so. Chosen when a company is created.
alter table companies add column sandbox boolean not null default false;
