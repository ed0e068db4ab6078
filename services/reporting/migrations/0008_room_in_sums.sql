-- Invoices move their jobs from one day to another and change what they bring in: with room on its page a row is changed where it is, and the
-- indexes stay as they are. Pages that are there keep what they hold; new ones leave the room.
alter table job_summaries set (fillfactor = 70);
alter table participation_summaries set (fillfactor = 70);
alter table job_combinations set (fillfactor = 70);
alter table participation_combinations set (fillfactor = 70);
