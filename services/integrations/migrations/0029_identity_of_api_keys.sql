alter table api_keys replica identity using index api_keys_identity;
