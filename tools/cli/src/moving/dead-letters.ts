// Dead letters stay with the Kafka that they came from. What those of the company would change is applied before it moves, or lost.
import { owners } from '@truckroll/contract';
import { IN_DEAD_LETTERS } from '@truckroll/erasure';
import type { Cell } from './cells.ts';

export async function problemsOfDeadLetters({ db }: Pick<Cell, 'db'>, companyId: string): Promise<string[]> {
  // Those without an id are no events, and can never be applied.
  const counting = owners.map(
    (owner) => `select '${owner} ' || count(*) as count from ${owner}.parked_event where headers ? 'id' and (${IN_DEAD_LETTERS}) having count(*) > 0`,
  );
  const { rows } = await db.query<{ count: string }>({ text: counting.join(' union all '), values: [companyId] });
  const counts = rows.map(({ count }) => count);
  if (counts.length === 0) return [];
  return [`There are dead letters of the company (${counts.join(', ')}), which would be lost: see \`truckroll dead-letters list\`, and retry them first.`];
}
