-- Replicas hear of invalidations that wait, whoever has stored them, so that none has to look for them every second.
create function tell_invalidations() returns trigger language plpgsql as $$
begin
  perform pg_notify(tg_table_schema || '_invalidations', '');
  return null;
end $$;
create trigger told after insert on pending_invalidations for each statement execute function tell_invalidations();
