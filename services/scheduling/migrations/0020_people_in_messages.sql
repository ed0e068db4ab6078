-- Team members that the message names; null for messages of before this column.
alter table notifications add column team_member_ids uuid[];
