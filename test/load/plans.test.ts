import { entriesOf, planLine, type PlanNode } from '../../loadtest/operations/plans.ts';

const scan = (index: string, rows: number, loops = 1): PlanNode => ({
  'Node Type': 'Index Scan',
  'Index Name': index,
  'Actual Rows': rows,
  'Actual Loops': loops,
});

describe('plans of a request', () => {
  it('are read from PostgreSQL’s log, ignoring its other entries', () => {
    const entry = JSON.stringify({ 'Query Text': 'select 1\nfrom x', Plan: scan('x_pkey', 1) }, null, 2).replace(/^/gm, '\t');
    const log = `2026-01-01 LOG:  checkpoint starting: time\n2026-01-01 LOG:  duration: 1.250 ms  plan:\n${entry}\n2026-01-01 LOG:  duration: 0.5 ms  plan:\n${entry}\n`;
    expect(entriesOf(log)).toEqual([1.25, 0.5].map((ms) => ({ ms, text: 'select 1\nfrom x', plan: scan('x_pkey', 1) })));
  });

  it('list on one line the indexes used, and the rows found in all loops', () => {
    const join: PlanNode = { 'Node Type': 'Nested Loop', 'Actual Rows': 50, 'Actual Loops': 1, Plans: [scan('invoices_order', 50), scan('names_pkey', 1, 50)] };
    expect(planLine({ 'Node Type': 'Limit', 'Actual Rows': 50, 'Actual Loops': 1, Plans: [join] })).toBe(
      'Nested Loop (Index Scan invoices_order 50, Index Scan names_pkey 50)',
    );
  });
});
