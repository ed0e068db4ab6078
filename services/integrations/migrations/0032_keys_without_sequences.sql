-- in steps
create unique index concurrently webhook_replays_identity on webhook_replays (endpoint_id, id);
drop index concurrently if exists webhook_replays_of_endpoint;
