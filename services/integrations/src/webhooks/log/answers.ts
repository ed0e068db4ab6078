// The log keeps the beginning of every answer, and of a company's longer answers as much as its daily budget allows (decisions §17).
import { firstHeaders } from '@truckroll/contract';
import type { ReportRequest } from '@truckroll/contract/gen/integrations/v1/deliveries';
import { notFrozen, type Queryable } from '@truckroll/postgres';
import { ANSWER_BYTES, TODAY } from '../../budgets.ts';
import { dayOfDelivery } from './delivery-id.ts';

/** Bytes of an answer's headers and body together that are recorded of every answer, and that the budget does not count. */
const ALWAYS_BYTES = 1024;
const NO_BODY = Buffer.alloc(0);

interface Recorded {
  /** As reported, but with only the beginning of the answers that the budget does not allow. */
  attempts: readonly ReportRequest[];
  /** Bytes to take from the budget, by company. */
  spent: Map<string, number>;
}

/** Decides how much of each answer is stored. The caller takes `spent` from the budgets in the transaction that stores the attempts. */
export async function withinBudget(tx: Queryable, reported: readonly ReportRequest[]): Promise<Recorded> {
  const spent = new Map<string, number>();
  const long = reported.filter((attempt) => bytesOf(attempt) > ALWAYS_BYTES);
  if (long.length === 0) return { attempts: reported, spent };
  const { rows } = await tx.query<{ id: string; company_id: string; used: number }>({
    name: 'budgets_of_answers',
    text: `select d.id, d.company_id, coalesce(b.used, 0)::bigint as used from unnest($1::date[], $2::uuid[]) g (day, id)
      join webhook_deliveries d on d.day = g.day and d.id = g.id and ${notFrozen('d.company_id')}
      left join company_budgets b on b.company_id = d.company_id and b.budget = 'answers' and b.day = ${TODAY}`,
    values: [long.map(({ delivery_id }) => dayOfDelivery(delivery_id)), long.map(({ delivery_id }) => delivery_id)],
  });
  const found = new Map(rows.map((row) => [row.id, row]));
  const attempts = reported.map((attempt) => {
    const bytes = bytesOf(attempt);
    const row = bytes > ALWAYS_BYTES ? found.get(attempt.delivery_id) : undefined;
    if (row === undefined) return attempt;
    const own = spent.get(row.company_id) ?? 0;
    if (row.used + own + bytes > ANSWER_BYTES) return beginningOf(attempt);
    spent.set(row.company_id, own + bytes);
    return attempt;
  });
  return { attempts, spent };
}

function bytesOf({ response_body, response_headers }: Pick<ReportRequest, 'response_body' | 'response_headers'>): number {
  return response_headers.reduce((sum, { name, value }) => sum + name.length + value.length, response_body.length);
}

/** The first headers, up to half of what is always recorded, and as much of the body as then fits. */
function beginningOf(attempt: ReportRequest): ReportRequest {
  const { response_body: body } = attempt;
  const response_headers = firstHeaders(attempt.response_headers, ALWAYS_BYTES / 2);
  const response_body = body.subarray(0, Math.max(0, ALWAYS_BYTES - bytesOf({ response_headers, response_body: NO_BODY })));
  return { ...attempt, response_headers, response_body, response_truncated: attempt.response_truncated || response_body.length < body.length };
}
