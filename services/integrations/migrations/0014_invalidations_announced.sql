-- Replicas announce invalidations before they store them (src/identity/invalidations.ts): a transaction that notifies commits under a
-- lock of the whole server.
drop trigger told on pending_invalidations;
drop function tell_invalidations();
