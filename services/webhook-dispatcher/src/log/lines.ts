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

export class ExchangeLog {
  readonly #log: Logger;
  readonly #warnedAt = new Map<string, number>();

  constructor(log: Logger) {
    this.#log = log;
  }

  sent(delivery: LeasedDelivery, report: ReportRequest): void {
    const { delivery_id, event_id: event, event_type: type, attempt } = delivery;
    const ms = Math.round((report.ended_at - report.started_at) / 1000);
    this.#log.info({ delivery: delivery_id, event, type, attempt, ms, ...sideOf(delivery), ...outcomeOf(report) }, 'sent a webhook');
  }

  postponed(delivery: LeasedDelivery): void {
    this.#log.warn({ delivery: delivery.delivery_id, ...sideOf(delivery) }, 'webhook postponed: its company has no free connection to the address');
  }

  circuitOpened(delivery: LeasedDelivery, report: ReportRequest): void {
    const now = performance.now();
    if (now - (this.#warnedAt.get(delivery.endpoint_id) ?? -Infinity) < REPEAT_MS) return;
    if (this.#warnedAt.size >= MOST_REMEMBERED) this.#warnedAt.clear();
    this.#warnedAt.set(delivery.endpoint_id, now);
    this.#log.warn({ ...sideOf(delivery), ...outcomeOf(report) }, 'webhook endpoint failing: circuit open');
  }

  disabled(delivery: LeasedDelivery, report: ReportRequest): void {
    this.#log.warn({ ...sideOf(delivery), ...outcomeOf(report) }, 'a webhook endpoint was disabled');
  }
}

function sideOf({ endpoint_id: endpoint, company_id: companyId, url }: LeasedDelivery): object {
  return { endpoint, companyId, host: URL.parse(url)?.host };
}

/** The cause is our own text, except for the names of headers that it quotes: nothing that an endpoint answered is logged. */
function outcomeOf(report: ReportRequest): object {
  const { response_status: status, error_message: message } = report;
  const cause = message.replace(/"[^"]*"/g, '"…"');
  return { result: resultOf(report), ...(status == null ? {} : { status }), ...(cause === '' ? {} : { cause }) };
}
