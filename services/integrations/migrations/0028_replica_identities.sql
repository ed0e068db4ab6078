alter table users replica identity using index users_identity;
alter table api_keys replica identity using index api_keys_identity;
alter table webhook_endpoints replica identity using index webhook_endpoints_identity;
alter table mails replica identity using index mails_identity;
