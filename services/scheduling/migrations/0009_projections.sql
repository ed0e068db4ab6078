-- By which version of its rules each record was projected (docs/adr/0005).
do $$
declare
  name text;
begin
  for name in select table_name from information_schema.columns where table_schema = current_schema() and column_name = 'derived' loop
    perform keep_projection(name::regclass);
  end loop;
end $$;
