-- in steps
-- Finds erased users whatever their company: entries of the trail of one that they have left show them too.
create index concurrently erased_users on erased_people (id) where kind = 'users';
