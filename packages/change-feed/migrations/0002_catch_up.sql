-- The backfill's progress moves into the table of all runs. Replicas of earlier releases go on by a view: both do the
-- same runs, and hold the same locks.
lock table change_backfills in access exclusive mode;
insert into catch_up (task, subject, company_id, after, done, complete) select 'feed', kind, company_id, id, done, done from change_backfills;
drop table change_backfills;

-- An earlier release ends a run by `done`. This release then finds it complete, and ends it by one empty batch.
create view change_backfills as select subject as kind, company_id, after as id, complete as done, task from catch_up where task = 'feed';
alter view change_backfills alter column task set default 'feed';
