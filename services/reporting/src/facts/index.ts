import { invoiceFacts, paymentFacts, refundFacts } from './copied.ts';
import type { FactKind } from './fact.ts';
import { jobFacts } from './jobs.ts';

/** In the order in which a generation is built. */
export const FACTS: readonly FactKind[] = [invoiceFacts, paymentFacts, refundFacts, jobFacts];
