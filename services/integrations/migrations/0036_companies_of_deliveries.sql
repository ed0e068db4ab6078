-- in steps
-- Rows are chosen by key, not by ctid, so that one that another transaction has just updated is changed too: a step ends when it changes none.
update webhook_queue q set company_id = e.company_id from webhook_endpoints e
where e.id = q.endpoint_id and q.delivery_id = any(array(select delivery_id from webhook_queue where company_id is null limit 5000));
update webhook_recoveries r set company_id = e.company_id from webhook_endpoints e
where e.id = r.endpoint_id and (r.endpoint_id, r.since, r.until) in (
  select endpoint_id, since, until from webhook_recoveries where company_id is null limit 5000);
update webhook_replays r set company_id = e.company_id from webhook_endpoints e
where e.id = r.endpoint_id and (r.endpoint_id, r.id) in (select endpoint_id, id from webhook_replays where company_id is null limit 5000);
