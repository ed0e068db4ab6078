-- By which version of its rules each record and each copy was projected (docs/adr/0005).
do $$
declare
  name text;
begin
  foreach name in array array['job_financials', 'revenue_attributions', 'companies', 'jobs', 'assignments', 'invoices'] loop
    perform keep_projection(name::regclass);
  end loop;
end $$;
