// Reads at a steady rate from every endpoint of the API. Each read must succeed and return what was requested.
import { setTimeout as delay } from 'node:timers/promises';
import type { TestCompany } from '../support/company.ts';

const LONGEST_ANSWER_MS = 12_000;
const PERIOD = 'start_date=2026-01-01&end_date=2026-12-31';

const PATHS = [
  '/v1/company',
  '/v1/jobs?limit=5',
  '/v1/job-appointments?limit=5&dispatch_status=UNASSIGNED',
  '/v1/job-assignments?limit=5',
  '/v1/team-members?limit=5&status=ACTIVE',
  '/v1/accounts?limit=5',
  '/v1/locations?limit=5&postal_code=78701',
  '/v1/invoices?limit=5&status=OPEN',
  '/v1/payments?limit=5',
  '/v1/estimates?limit=5',
  '/v1/job-financials?limit=5',
  '/v1/revenue-attributions?limit=5',
  `/v1/reports/invoice-activity?${PERIOD}`,
  `/v1/reports/collections?${PERIOD}&group_by=payment_method`,
  `/v1/reports/job-profitability?${PERIOD}&group_by=job_class`,
  `/v1/reports/technician-participation-profitability?${PERIOD}`,
  '/api/v1/integrations/webhooks',
];

export interface Reading {
  readonly baseUrl: string;
  readonly company: TestCompany;
  readonly rate: number;
  readonly goesOn: () => boolean;
  readonly failed: (what: string) => void;
  /** The status by which this path may be refused now, with Retry-After. */
  readonly mayRefuse: (path: string) => number | undefined;
}

export async function read({ baseUrl, company, rate, goesOn, failed, mayRefuse }: Reading): Promise<{ reads: number; refused: number }> {
  const pending = new Set<Promise<void>>();
  let reads = 0;
  let refused = 0;
  const startedAt = performance.now();
  for (let turn = 0; goesOn(); turn++) {
    const path = PATHS[turn % PATHS.length]!;
    const asking = ask(baseUrl, company, path, mayRefuse(path)).then(
      (answered) => void (answered ? (reads += 1) : (refused += 1)),
      (error: unknown) => failed(String(error)),
    );
    pending.add(asking);
    void asking.finally(() => pending.delete(asking));
    // Paced by the clock, so that slow answers do not delay later requests.
    await delay(Math.max(0, startedAt + ((turn + 1) * 1000) / rate - performance.now()));
  }
  await Promise.all(pending);
  return { reads, refused };
}

/** False if it was refused, which it may be. */
async function ask(baseUrl: string, { apiKey }: TestCompany, path: string, refusal: number | undefined): Promise<boolean> {
  const sentAt = new Date().toISOString();
  const failure = (what: string): Error => new Error(`GET ${path} at ${sentAt}: ${what}`);
  let response;
  let body;
  try {
    response = await fetch(baseUrl + path, { headers: { authorization: `Bearer ${apiKey}` }, signal: AbortSignal.timeout(LONGEST_ANSWER_MS) });
    body = await response.text();
  } catch (error) {
    throw failure(String((error as Error).cause ?? error));
  }
  if (response.status === refusal && response.headers.has('retry-after')) return false;
  if (response.status !== 200) throw failure(`${response.status} ${body}`);
  if ((JSON.parse(body) as { data?: unknown }).data === undefined) throw failure(`an answer without data: ${body}`);
  return true;
}
