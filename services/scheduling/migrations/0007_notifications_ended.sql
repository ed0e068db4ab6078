-- What became of a notification is kept for 90 days: the sender, which serves all companies alike, deletes what is older.
create index notifications_ended on notifications (finished_at) where finished_at is not null;
