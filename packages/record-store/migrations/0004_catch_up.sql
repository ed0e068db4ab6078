-- The progress of publishing moves into the table of all runs. Replicas of earlier releases go on by a view: both
-- do the same runs, and hold the same locks.
lock table publications in access exclusive mode;
insert into catch_up (task, subject, company_id, after, processed, done, complete)
  select 'publish', path, company_id, after, published, done, complete from publications;
drop table publications;

create view publications as
  select subject as path, company_id, after, processed as published, done, complete, task from catch_up where task = 'publish';
alter view publications alter column task set default 'publish';
