-- Leasing costs the same however much waits for an endpoint: what may be lent is found in the order in which it is lent.
-- Expired leases are first made free, so that "free" is one condition.
drop index webhook_queue_due;
create index webhook_queue_free on webhook_queue (endpoint_id, due_at, sequence) where leased_until is null;
-- Only what was tried before is due later than now.
drop index webhook_queue_next;
create index webhook_queue_retries on webhook_queue (due_at) where tried;
create index webhook_endpoints_resuming on webhook_endpoints (resume_at) where resume_at is not null;
