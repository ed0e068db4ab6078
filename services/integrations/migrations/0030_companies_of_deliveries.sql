-- in steps
update webhook_queue q set company_id = e.company_id from webhook_endpoints e
where e.id = q.endpoint_id and q.ctid = any(array(select ctid from webhook_queue where company_id is null limit 5000));
update webhook_recoveries r set company_id = e.company_id from webhook_endpoints e
where e.id = r.endpoint_id and r.ctid = any(array(select ctid from webhook_recoveries where company_id is null limit 5000));
update webhook_replays r set company_id = e.company_id from webhook_endpoints e
where e.id = r.endpoint_id and r.ctid = any(array(select ctid from webhook_replays where company_id is null limit 5000));
