// Reports attempts to the log. None may be missing from it.
import { ApiError } from '@truckroll/contract';
import type { ReportAllRequest, ReportAllResponse, ReportRequest, ReportResponse } from '@truckroll/contract/gen/integrations/v1/deliveries';
import { gather, logOutage, retrying } from '@truckroll/process';
import type { Logger } from '@truckroll/telemetry';

export interface ReportOptions {
  readonly report: (request: ReportRequest) => Promise<ReportResponse>;
  readonly reportAll: (request: ReportAllRequest) => Promise<ReportAllResponse>;
  readonly log: Logger;
}

/** Limits of one request. */
const MOST_ATTEMPTS = 100;
const MOST_BYTES = 2 * 1024 * 1024;
/** Wait for eight attempts, at most 15 ms: a request costs as much as ten attempts, and only the endpoint's next deliveries wait for it. */
const LINGER = { ms: 15, enough: 8 / MOST_ATTEMPTS };

/**
 * Stores an attempt, batched with others. If the batch fails, retries each attempt on its own, so that an invalid one does not block the
 * others. Rejects if the attempt can never be stored, or when aborted.
 */
export function createReport({ report, reportAll, log }: ReportOptions): (attempt: ReportRequest, signal: AbortSignal) => Promise<ReportResponse> {
  const together = gather(loadOf, async (attempts) => (await reportAll({ attempts: [...attempts] })).answers, LINGER);

  return async (attempt, signal) => {
    const { delivery_id: delivery } = attempt;
    try {
      const answer = await together(attempt);
      if (!answer.unknown) return answer;
    } catch (error) {
      log.debug({ error, delivery }, 'attempts could not be reported together');
    }
    const again = (error: unknown, failures: number) => {
      if (error instanceof ApiError && error.status < 500) return false;
      logOutage(log, 'an attempt could not be reported; trying again', failures, error, { delivery });
      return true;
    };
    return await retrying(() => report(attempt), again, signal);
  };
}

/** Load of an attempt as a share of what one request can carry. */
function loadOf({ response_body: body, response_headers: headers }: ReportRequest): number {
  const bytes = headers.reduce((sum, { name, value }) => sum + name.length + value.length, body.length);
  return Math.max(1 / MOST_ATTEMPTS, bytes / MOST_BYTES);
}
