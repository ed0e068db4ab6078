-- The records of this service are in the change feed (decisions §14).
select keep_changes('estimates', 'estimates');
select keep_changes('invoices', 'invoices');
select keep_changes('payments', 'payments');
select keep_changes('refunds', 'refunds');
