-- Two databases may have given the same number (docs/adr/0025).
alter table mails drop constraint pending_mails_pkey, add constraint mails_identity primary key using index mails_identity;
