-- Ids of people that texts of the body name without a reference, with a space between two.
alter table webhook_events add column people text;
