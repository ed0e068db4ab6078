// DeliveryService.Report and ReportAll: store attempts and their consequences.
import { ApiError } from '@truckroll/contract';
import type { HttpHeader, ReportAllRequest, ReportAllResponse, ReportRequest, ReportResponse } from '@truckroll/contract/gen/integrations/v1/deliveries';
import type { Context } from '../../context.ts';
import { checked } from '../../requests.ts';
import { storeAttempts } from './store-attempts.ts';
import { count } from '../health/metrics.ts';
import type { DeliveryState } from '../queue/rules.ts';

const MOST_MESSAGE_CHARACTERS = 500;

export async function report(context: Context, request: ReportRequest): Promise<ReportResponse> {
  const { answers } = await reportAll(context, { attempts: [request] });
  const [answer] = answers;
  if (answer === undefined || answer.unknown) throw new ApiError('NOT_FOUND', 'No such delivery: its day may have been dropped.');
  return answer;
}

export async function reportAll({ database, deliveries, log }: Context, request: ReportAllRequest): Promise<ReportAllResponse> {
  const { attempts } = checked('ReportAllRequest', { attempts: request.attempts.map(readable) });
  const answers = new Map<ReportRequest, ReportResponse>();
  for (const together of distinct(attempts)) {
    const stored = await database.transaction((tx) => storeAttempts(tx, together), { retryContention: true });
    together.forEach((attempt, index) => answers.set(attempt, stored[index] as ReportResponse));
  }
  for (const [{ delivery_id: delivery, response_status }, { endpoint_disabled: disabled, lease_lost: lost, status }] of answers) {
    const state = status.replace('DELIVERY_STATUS_', '') as DeliveryState;
    // PENDING was counted when the delivery was stored.
    if (!lost && (state === 'SUCCEEDED' || state === 'FAILED' || state === 'SKIPPED')) count(deliveries, state);
    if (disabled) log.info({ delivery, status: response_status }, 'an attempt disabled its webhook endpoint');
  }
  return { answers: attempts.map((attempt) => answers.get(attempt) as ReportResponse) };
}

/** Replaces what PostgreSQL cannot store in texts from endpoints, so that no attempt is missing from the log. */
function readable(request: ReportRequest): ReportRequest {
  const text = (value: string): string => (PLAIN.test(value) ? value : value.replaceAll('\0', '\uFFFD').toWellFormed());
  const headers = (all: readonly HttpHeader[]): HttpHeader[] => all.map(({ name, value }) => ({ name: text(name), value: text(value) }));
  return {
    ...request,
    error_message: [...text(request.error_message)].slice(0, MOST_MESSAGE_CHARACTERS).join(''),
    request_headers: headers(request.request_headers),
    response_headers: headers(request.response_headers),
  };
}

const PLAIN = /^[\x01-\x7f]*$/;

/** Splits attempts so that each transaction has at most one per delivery, because an attempt depends on the result of the previous one. */
function distinct(attempts: readonly ReportRequest[]): ReportRequest[][] {
  const groups: Map<string, ReportRequest>[] = [];
  for (const attempt of attempts) {
    let group = groups.find((each) => !each.has(attempt.delivery_id));
    if (group === undefined) groups.push((group = new Map<string, ReportRequest>()));
    group.set(attempt.delivery_id, attempt);
  }
  return groups.map((group) => [...group.values()]);
}
