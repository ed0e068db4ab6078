import { invoiceFacts, paymentFacts, refundFacts } from './records.ts';
import type { SummaryDefinition } from './definitions.ts';
import type { FactKind } from './fact.ts';
import { jobFacts } from './jobs.ts';

/** In the order in which a generation is built. */
export const FACTS: readonly FactKind[] = [invoiceFacts, paymentFacts, refundFacts, jobFacts];

/** SELECT of all rows that count in a report, as in Counted. */
export function countedRows(summary: SummaryDefinition): string {
  const counted = FACTS.flatMap((kind) => kind.counted).filter((each) => each.summary === summary);
  return counted.map(({ rows }) => rows).join(' union all ');
}
