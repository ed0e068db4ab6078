alter table users replica identity using index users_identity;
