-- The request that caused an event, and its W3C trace context where that does not follow from the request's id. Null for
-- events of before, and of a release that did not tell.
alter table webhook_events add column request_id uuid, add column traceparent text;
