-- Dispatchers that tell, once a second, that they are alive: what is lent to one that has gone silent is due again.
create table webhook_workers (
  id text primary key,
  seen_at timestamptz not null
) with (fillfactor = 50);
