-- Most webhook endpoints of a company at a time (decisions §12); an operator may set another number.
alter table companies add column webhook_endpoint_limit integer not null default 100 check (webhook_endpoint_limit > 0);

-- Names are one line of text from now on: they stand in subjects of e-mails, in tables of terminals and in logs.
update webhook_endpoints set name = regexp_replace(name, '[\u0001-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]+', ' ', 'g')
where name ~ '[\u0001-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]';
update api_keys set name = regexp_replace(name, '[\u0001-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]+', ' ', 'g')
where name ~ '[\u0001-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]';

-- What became of an e-mail is kept for 90 days.
create index mails_ended on mails (finished_at) where finished_at is not null;
