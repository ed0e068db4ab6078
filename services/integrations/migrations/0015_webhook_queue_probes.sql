-- in steps
-- Deliveries that a user requested are leased before all others, even while the endpoint's circuit is open.
create index concurrently webhook_queue_probes on webhook_queue (endpoint_id, due_at) where forced and failures = 0 and leased_until is null;
