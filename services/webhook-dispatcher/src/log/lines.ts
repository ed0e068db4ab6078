// Log lines about exchanges and endpoints, with endpoint, company, host and the cause of a failure.
import { AttemptError, type LeasedDelivery, type ReportRequest } from '@truckroll/contract/gen/integrations/v1/deliveries';
import type { Logger } from '@truckroll/telemetry';

/** Outcome of an exchange in metrics and logs: the class of its status, or the reason why there is none. */
export type Result = '2xx' | '3xx' | '4xx' | '5xx' | 'timeout' | 'refused' | 'dns' | 'blocked' | 'tls' | 'broken';

const FAILURES: Readonly<Record<string, Result>> = {
  [AttemptError.NAME]: 'dns',
  [AttemptError.FORBIDDEN_TARGET]: 'blocked',
  [AttemptError.CONNECT]: 'refused',
  [AttemptError.TLS]: 'tls',
  [AttemptError.TIMEOUT]: 'timeout',
  [AttemptError.EXCHANGE]: 'broken',
};

export function resultOf({ error, response_status: status }: Pick<ReportRequest, 'error' | 'response_status'>): Result {
  if (error !== AttemptError.UNSPECIFIED) return FAILURES[error] ?? 'broken';
  const hundreds = Math.floor((status ?? 0) / 100);
  return hundreds >= 2 && hundreds <= 5 ? (`${hundreds}xx` as Result) : 'broken';
}

/** Minimum time between warnings about the same failing endpoint, in ms. Every exchange is logged regardless. */
const REPEAT_MS = 60_000;
/** Maximum endpoints remembered for that. */
const MOST_REMEMBERED = 10_000;

export class Witness {
  readonly #log: Logger;
  readonly #toldAt = new Map<string, number>();

  constructor(log: Logger) {
    this.#log = log;
  }

  exchanged(delivery: LeasedDelivery, report: ReportRequest): void {
    const { delivery_id, event_id: event, event_type: type, attempt } = delivery;
    const ms = Math.round((report.ended_at - report.started_at) / 1000);
    this.#log.info({ delivery: delivery_id, event, type, attempt, ms, ...sideOf(delivery), ...outcomeOf(report) }, 'sent a webhook');
  }

  crowdedOut(delivery: LeasedDelivery): void {
    this.#log.warn({ delivery: delivery.delivery_id, ...sideOf(delivery) }, 'webhook postponed: its company has no free connection to the address');
  }

  leftAlone(delivery: LeasedDelivery, report: ReportRequest): void {
    const now = performance.now();
    if (now - (this.#toldAt.get(delivery.endpoint_id) ?? -Infinity) < REPEAT_MS) return;
    if (this.#toldAt.size >= MOST_REMEMBERED) this.#toldAt.clear();
    this.#toldAt.set(delivery.endpoint_id, now);
    this.#log.warn({ ...sideOf(delivery), ...outcomeOf(report) }, 'a webhook endpoint fails and is left alone for a time');
  }

  disabled(delivery: LeasedDelivery, report: ReportRequest): void {
    this.#log.warn({ ...sideOf(delivery), ...outcomeOf(report) }, 'a webhook endpoint was disabled');
  }
}

function sideOf({ endpoint_id: endpoint, company_id: companyId, url }: LeasedDelivery): object {
  return { endpoint, companyId, host: URL.parse(url)?.host };
}

/** The cause is our own text: nothing that an endpoint answered is logged. */
function outcomeOf(report: ReportRequest): object {
  const { response_status: status, error_message: cause } = report;
  return { result: resultOf(report), ...(status == null ? {} : { status }), ...(cause === '' ? {} : { cause }) };
}
