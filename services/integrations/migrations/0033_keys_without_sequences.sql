-- Rows of two databases may have the same number, so it is unique only within a company or an endpoint (docs/adr/0025).
alter table mails drop constraint pending_mails_pkey, add constraint mails_identity primary key using index mails_identity;
alter table webhook_replays drop constraint webhook_replays_pkey, add constraint webhook_replays_identity primary key using index webhook_replays_identity;
