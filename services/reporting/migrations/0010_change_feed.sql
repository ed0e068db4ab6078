-- The records of this service are in the change feed (decisions §14).
select keep_changes('job_financials', 'job-financials');
select keep_changes('revenue_attributions', 'revenue-attributions');
