// Dead letters stay with the Kafka that they came from. What those of the company would change is applied before it moves, or lost.
import { owners } from '@truckroll/contract';
import { IN_DEAD_LETTERS } from '@truckroll/erasure';
import type { Cell } from './cells.ts';

export async function problemsOfDeadLetters({ db }: Pick<Cell, 'db'>, companyId: string): Promise<string[]> {
  const counts: string[] = [];
  for (const owner of owners) {
    // Those without an id are no events, and can never be applied.
    const text = `select count(*) as count from ${owner}.parked_event where headers ? 'id' and (${IN_DEAD_LETTERS})`;
    const { rows } = await db.query<{ count: number }>({ text, values: [companyId] });
    if (rows[0]!.count > 0) counts.push(`${owner} ${rows[0]!.count}`);
  }
  if (counts.length === 0) return [];
  return [`There are dead letters of the company (${counts.join(', ')}), which would be lost: see \`truckroll dead-letters list\`, and retry them first.`];
}
