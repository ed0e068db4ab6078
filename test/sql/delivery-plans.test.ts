// Deliveries are changed by their key. Statistics do not know a company that is new today: by the index of companies, PostgreSQL would read all
// its deliveries again for each that changes.
import { randomUUID } from 'node:crypto';
import { Database } from '@truckroll/postgres';
import { freshDatabase } from '@truckroll/testing';
import { schema } from '../../services/integrations/src/schema.ts';
import { makeDays } from '../../services/integrations/src/webhooks/log/partitions.ts';
import { nodesOf, type PlanNode } from './plan-nodes.ts';
import { writtenStatements } from './statements.ts';

const CHANGED = 'webhook_deliveries';
const FILL = `insert into ${CHANGED} (day, id, company_id, endpoint_id, event_id, event_type, subject, sequence, occurred_at, state)
  select d::date, gen_random_uuid(), c, c, c, 'visit.updated', c::text, 1, d, 'SUCCEEDED'
  from generate_series(current_date - $1::int, current_date, '1 day') d, unnest($2::uuid[]) c, generate_series(1, $3::int)`;

/** Without common table expressions, which may find deliveries otherwise. */
const own = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).filter((plan) => plan['Parent Relationship'] !== 'InitPlan').flatMap(own)];
const changes = (node: PlanNode): boolean => node['Node Type'] === 'ModifyTable' && node['Relation Name'] === CHANGED;
const byCompany = ({ 'Index Cond': condition = '' }: PlanNode): boolean => condition.includes('company_id') && !condition.includes('endpoint_id');

test('PostgreSQL does not find the deliveries that a statement changes by their company', async () => {
  const { url, drop } = await freshDatabase({ [schema.schema]: schema.migrations });
  const database = new Database({ url, schema: schema.schema, maxConnections: 1 });
  try {
    const { rows: days } = await database.query<{ day: string }>({
      text: `select d::date::text as day from generate_series(current_date - 29, current_date, '1 day') d`,
    });
    await database.transaction((tx) =>
      makeDays(
        tx,
        days.map(({ day }) => day),
      ),
    );
    await database.query({ text: FILL, values: [29, Array.from({ length: 50 }, () => randomUUID()), 20] });
    await database.query({ text: `analyze ${CHANGED}` });
    const company = randomUUID();
    await database.query({ text: FILL, values: [0, [company], 2000] });
    // The default of PostgreSQL, which the tests' servers change.
    await database.query({ text: 'set random_page_cost = 4' });
    const written = writtenStatements(undefined, ['services/integrations/src']).flatMap(({ at, texts }) =>
      texts.filter((text) => text.includes(`update ${CHANGED} `)).map((text) => ({ at, text })),
    );
    expect(written.length).toBeGreaterThan(5);
    for (const { at, text } of written) {
      // A plan for this company, as each statement gets when it is new to a connection.
      const known = text.replaceAll(/(company_id (?:=|is not distinct from) )\$1\b/g, `$1'${company}'`);
      const { rows } = await database.query<{ 'QUERY PLAN': { Plan: PlanNode }[] }>({ text: `explain (generic_plan, format json) ${known}` });
      const [update] = nodesOf(rows[0]!['QUERY PLAN'][0]!.Plan).filter(changes);
      expect({ at, byCompany: own(update!).filter(byCompany) }).toEqual({ at, byCompany: [] });
    }
  } finally {
    await database.close();
    await drop();
  }
});
