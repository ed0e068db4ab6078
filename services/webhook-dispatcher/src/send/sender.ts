// Sends leased deliveries and reports the attempts. A delivery passes through these states:
//
// | State     | What it waits for                                                | What it holds                               |
// |-----------|------------------------------------------------------------------|---------------------------------------------|
// | waiting   | the exchange that tests its endpoint's half-open circuit         | its lease                                   |
// | sending   | its exchange with the endpoint                                   | a slot                                      |
// | reporting | the storing of its attempt, of at most 2 × maxInFlight at a time | no slot: an accepted one is no longer in flight |
import type { LeaseRequest, LeasedDelivery, ReportRequest, ReportResponse } from '@truckroll/contract/gen/integrations/v1/deliveries';
import { durations, onBehalfOf, requestOf, type Logger, type Metrics } from '@truckroll/telemetry';
import { ExchangeLog, resultOf } from '../log/lines.ts';
import { Circuits } from './circuits.ts';
import { endpointAnswers } from './attempt.ts';
import { ExchangeSlots } from './exchange-slots.ts';

export interface WebhookSenderOptions {
  /** See `attempt`. */
  readonly attempt: (delivery: LeasedDelivery, charge: (ms: number) => void) => Promise<ReportRequest | undefined>;
  readonly report: (request: ReportRequest, signal: AbortSignal) => Promise<ReportResponse>;
  readonly maxInFlight: number;
  /** Called when more deliveries may be sent than before. */
  readonly freed: () => void;
  /** Called when other deliveries of an endpoint are due. */
  readonly moreDue: () => void;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/** Maximum deliveries leased by one request. */
const MOST_AT_ONCE = 200;
/** Maximum accepted deliveries listed in a LeaseRequest. Others count as in flight until their attempts are stored. */
const MOST_ACCEPTED = 10_000;
/** Remaining lease in ms that a delivery needs after waiting here: 5 s for a connection and 15 s for the exchange. */
const LEASE_RESERVE_MS = 20_000;
/** Maximum time to report attempts while stopping, in ms, after up to 15 s for exchanges. runService allows 40 s in total. */
const REPORT_WHILE_STOPPING_MS = 8000;

export class Sender {
  readonly #options: WebhookSenderOptions;
  readonly #slots: ExchangeSlots;
  readonly #circuits = new Circuits();
  readonly #running = new Set<Promise<void>>();
  /** Deliveries in state waiting, by endpoint. */
  readonly #waiting = new Map<string, LeasedDelivery[]>();
  /** Number of deliveries in state reporting. */
  #reporting = 0;
  /** Ids of those that the endpoint accepted. */
  readonly #accepted = new Set<string>();
  readonly #attempts;
  readonly #exchangeLog: ExchangeLog;
  readonly #givingUp = new AbortController();
  #stopping = false;

  constructor(options: WebhookSenderOptions) {
    this.#options = options;
    const { metrics } = options;
    this.#slots = new ExchangeSlots(options.maxInFlight, options.freed);
    this.#attempts = durations(
      metrics,
      'webhook_attempt_duration_seconds',
      'Exchanges with endpoints by result: 2xx, 3xx, 4xx, 5xx, timeout, refused (no connection), dns, blocked (a target that is not allowed), tls, broken',
      ['result'],
    );
    this.#exchangeLog = new ExchangeLog(options.log);
    metrics.observedGauge('webhook_circuits_open', 'Endpoints with an open circuit in this replica, because they fail', () => this.#circuits.open(Date.now()));
    metrics.observedGauge('webhook_in_flight', 'Exchanges with endpoints that are in progress', () => this.#slots.inFlight);
  }

  /** Number of deliveries that may be leased now. */
  get free(): number {
    return Math.max(0, Math.min(this.#slots.free, 2 * this.#options.maxInFlight - this.#reporting, MOST_AT_ONCE));
  }

  /** The limits by company and endpoint of a lease request. */
  limits(): Pick<LeaseRequest, 'excluded_endpoint_ids' | 'max_of_company' | 'busy_companies' | 'taken_delivery_ids'> {
    const most = (companyId: string) => Math.min(this.#slots.freeFor(companyId), MOST_AT_ONCE);
    return {
      excluded_endpoint_ids: this.#circuits.excluded(Date.now()),
      max_of_company: most(''),
      busy_companies: this.#slots.busy.map((company_id) => ({ company_id, max_deliveries: most(company_id) })),
      taken_delivery_ids: [...this.#accepted].slice(0, MOST_ACCEPTED),
    };
  }

  /** Time at which the next circuit becomes half-open, in ms since 1970. Undefined if none is open. */
  nextTestAt(now: number): number | undefined {
    return this.#circuits.nextAt(now);
  }

  /** Sends nothing after `stop`: such deliveries become due again with the heartbeat's last call. */
  send(deliveries: readonly LeasedDelivery[]): void {
    for (const delivery of deliveries) this.#begin(delivery);
  }

  /** Closes the circuits of endpoints, and sends the deliveries that wait for them. */
  restart(endpointIds: readonly string[]): void {
    for (const id of endpointIds) {
      this.#circuits.close(id);
      this.#release(id, Date.now());
    }
  }

  /** Waits until exchanges have ended and are reported. Waiting deliveries keep their leases until these end. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#waiting.clear();
    const timer = setTimeout(() => this.#givingUp.abort(), 15_000 + REPORT_WHILE_STOPPING_MS);
    await Promise.all(this.#running);
    clearTimeout(timer);
  }

  #begin(delivery: LeasedDelivery): void {
    if (this.#stopping) return;
    const { endpoint_id: endpointId, probe } = delivery;
    if (!probe && !this.#circuits.mayBegin(endpointId, Date.now())) {
      const waiting = this.#waiting.get(endpointId);
      if (waiting === undefined) this.#waiting.set(endpointId, [delivery]);
      else waiting.push(delivery);
      return;
    }
    const running = onBehalfOf(requestOf(delivery.request_id, delivery.traceparent), () => this.#send(delivery)).catch((error: unknown) => {
      this.#options.log.error({ error, delivery: delivery.delivery_id }, 'a delivery failed in an unexpected way');
    });
    this.#running.add(running);
    void running.finally(() => this.#running.delete(running));
  }

  async #send(delivery: LeasedDelivery): Promise<void> {
    const leave = this.#slots.enter(delivery.company_id);
    let report: ReportRequest | undefined;
    let processorMs = 0;
    try {
      report = await this.#exchange(delivery, (ms) => (processorMs += ms));
      // No connection was free: the delivery is due again when its lease ends.
      if (report === undefined) return;
      this.#reporting += 1;
    } finally {
      leave(processorMs);
    }
    const { delivery_id: id } = delivery;
    if (resultOf(report) === '2xx') this.#accepted.add(id);
    try {
      await this.#report(delivery, report);
    } finally {
      this.#accepted.delete(id);
      this.#reporting -= 1;
      this.#options.freed();
    }
  }

  async #exchange(delivery: LeasedDelivery, charge: (ms: number) => void): Promise<ReportRequest | undefined> {
    const startedAt = performance.now();
    const report = await this.#options.attempt(delivery, charge).catch((error: unknown) => {
      // `attempt` should never reject, but deliveries that wait for this exchange must not wait for ever.
      this.#settle(delivery, false);
      throw error;
    });
    if (report === undefined) {
      this.#exchangeLog.postponed(delivery);
      if (!delivery.probe) this.#circuits.notTried(delivery.endpoint_id);
      this.#release(delivery.endpoint_id, Date.now());
      return undefined;
    }
    const answered = endpointAnswers(report);
    this.#attempts.ended(startedAt, resultOf(report));
    this.#exchangeLog.sent(delivery, report);
    const wasOpen = this.#circuits.isOpen(delivery.endpoint_id, Date.now());
    const until = this.#settle(delivery, answered);
    if (!wasOpen && this.#circuits.isOpen(delivery.endpoint_id, Date.now())) this.#exchangeLog.circuitOpened(delivery, report);
    return { ...report, circuit_open_until: until === undefined ? null : until * 1000 };
  }

  /** Updates the endpoint's circuit, and sends the deliveries that waited for it, unless it opened. Returns Circuits.openUntil. */
  #settle({ endpoint_id: endpointId, probe }: LeasedDelivery, answered: boolean): number | undefined {
    const now = Date.now();
    if (answered) this.#circuits.close(endpointId);
    else if (!probe) this.#circuits.failed(endpointId, now);
    const until = this.#circuits.openUntil(endpointId, now);
    if (answered || !probe) this.#release(endpointId, now);
    return until;
  }

  /** Sends the deliveries that wait for the endpoint's circuit, or forgets them if it is open. */
  #release(endpointId: string, now: number): void {
    const waiting = this.#waiting.get(endpointId);
    if (waiting === undefined) return;
    this.#waiting.delete(endpointId);
    if (this.#circuits.isOpen(endpointId, now)) return;
    for (const delivery of waiting) {
      if (delivery.lease_expires_at / 1000 - now > LEASE_RESERVE_MS) this.#begin(delivery);
    }
  }

  async #report(delivery: LeasedDelivery, report: ReportRequest): Promise<void> {
    const { report: store, moreDue, log } = this.#options;
    try {
      const { endpoint_disabled: disabled, lease_lost: lost, more_due: more } = await store(report, this.#givingUp.signal);
      if (more) moreDue();
      if (disabled) this.#exchangeLog.disabled(delivery, report);
      if (lost) log.warn({ delivery: report.delivery_id }, 'a lease ended before its attempt was reported');
    } catch (error) {
      log.error({ error, delivery: report.delivery_id }, 'an attempt was not reported; its delivery will be due again');
    }
  }
}
