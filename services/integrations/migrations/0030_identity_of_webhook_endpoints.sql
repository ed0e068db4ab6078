alter table webhook_endpoints replica identity using index webhook_endpoints_identity;
