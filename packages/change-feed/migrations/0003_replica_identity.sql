-- Rows have no key. They are never updated, so identifying them to a replica by the whole row costs only deletions something (docs/adr/0025).
alter table record_changes replica identity full;
