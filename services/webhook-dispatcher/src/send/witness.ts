// What the log says of exchanges and of endpoints: each with endpoint, company, host and, where it failed, the cause.
import type { LeasedDelivery, ReportRequest } from '@truckroll/contract/gen/integrations/v1/deliveries';
import type { Logger } from '@truckroll/service-kit';
import { resultOf } from './result.ts';

/** An endpoint that goes on failing is told of no more often. Its exchanges are in the log all the same. */
const REPEAT_MS = 60_000;
/** Endpoints that are remembered for that. */
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

/** The cause is in words that were made here: nothing that an endpoint answered is repeated. */
function outcomeOf(report: ReportRequest): object {
  const { response_status: status, error_message: cause } = report;
  return { result: resultOf(report), ...(status == null ? {} : { status }), ...(cause === '' ? {} : { cause }) };
}
