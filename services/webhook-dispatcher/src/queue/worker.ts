import type { LeaseRequest, LeaseResponse, LeasedDelivery, ReportRequest, ReportResponse } from '@truckroll/contract/gen/integrations/v1/deliveries';
import { Notifier, backoffMs, logOutage, pause, type BackgroundPart } from '@truckroll/process';
import { durations, onBehalfOf, requestOf, type Logger, type Metrics } from '@truckroll/telemetry';
import { endpointAnswers } from '../send/attempt.ts';
import { Circuits } from './circuits.ts';
import { Bulkhead } from '../send/exchange-slots.ts';
import { Witness, resultOf } from '../log/lines.ts';

export interface WorkerOptions {
  readonly workerId: string;
  readonly lease: (request: LeaseRequest, options: { signal: AbortSignal }) => Promise<LeaseResponse>;
  readonly report: (request: ReportRequest, signal: AbortSignal) => Promise<ReportResponse>;
  /** See `attempt`. */
  readonly attempt: (delivery: LeasedDelivery, charge: (ms: number) => void) => Promise<ReportRequest | undefined>;
  readonly maxInFlight: number;
  readonly maxInFlightPerEndpoint: number;
  /** Whether `notify` is called when users request a delivery. */
  readonly hears: () => boolean;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/** Maximum deliveries leased by one request. */
const MOST_AT_ONCE = 200;
/** Free slots to wait for before storing more events: a request for fewer deliveries costs more than the deliveries do. */
const WORTH_A_REQUEST = 100;
/** Maximum accepted deliveries listed in a LeaseRequest. Others count as in flight until their attempts are stored. */
const MOST_TAKEN = 10_000;
/** Due deliveries above which new events wait: an endpoint with due ones gets no lease for a new event, so they would accumulate. */
const FEW_DUE = 24;
/** Maximum time that new events wait for free slots, in ms. */
const SPARE_MS = 200;
/**
 * Poll intervals in ms when no delivery is known to become due. Polling finds deliveries that other workers left behind and, while
 * integrations sends no notifications, those that users request.
 */
const POLL = { hearingMs: 2000, deafMs: 500 };
/** Minimum wait in ms: by this machine's clock, the next due time that integrations returns may be long past. */
const LEAST_WAIT_MS = 20;
/** Remaining lease in ms that a delivery needs after waiting here: 5 s for a connection and 15 s for the exchange. */
const LEASE_RESERVE_MS = 20_000;
/** Maximum time to report attempts while stopping, in ms, after up to 15 s for exchanges. runService allows 40 s in total. */
const REPORT_WHILE_STOPPING_MS = 8000;

/** Leases due deliveries, sends them and reports the attempts. Deliveries that it does not report are due again when their leases end. */
export class Worker implements BackgroundPart {
  readonly name = 'webhook worker';
  readonly #options: WorkerOptions;
  readonly #stopping = new AbortController();
  readonly #givingUp = new AbortController();
  readonly #occasion = new Notifier();
  readonly #bulkhead: Bulkhead;
  readonly #circuits = new Circuits();
  readonly #running = new Set<Promise<void>>();
  /** Number of attempts being reported. They hold no slots, because their exchanges have ended. */
  #reporting = 0;
  /** Ids of the deliveries among them that the endpoint accepted: still leased, but no longer in flight. */
  readonly #taken = new Set<string>();
  /** Deliveries waiting for the exchange that tests a half-open circuit, by endpoint. */
  readonly #waiting = new Map<string, LeasedDelivery[]>();
  readonly #attempts;
  readonly #witness: Witness;
  #loop: Promise<void> = Promise.resolve();
  #leasing = false;
  #lending: Promise<unknown> = Promise.resolve();
  /** Wakes `spare` when slots may be free or due deliveries were leased. */
  readonly #left = new Notifier();
  /** Estimated number of due deliveries that are not leased to any worker. */
  #due = 0;
  /** Whether the last lease request was limited by free slots, in total or of one company. */
  #full = false;

  constructor(options: WorkerOptions) {
    this.#options = options;
    const { metrics } = options;
    this.#bulkhead = new Bulkhead(options.maxInFlight, () => this.#freed());
    this.#attempts = durations(
      metrics,
      'webhook_attempt_duration_seconds',
      'Exchanges with endpoints by result: 2xx, 3xx, 4xx, 5xx, timeout, refused (no connection), dns, blocked (a target that is not allowed), tls, broken',
      ['result'],
    );
    this.#witness = new Witness(options.log);
    metrics.observedGauge('webhook_circuits_open', 'Endpoints that are left alone for a time as they fail, by this replica', () =>
      this.#circuits.open(Date.now()),
    );
    metrics.observedGauge('webhook_in_flight', 'Exchanges with endpoints that are going on', () => this.#bulkhead.inFlight);
  }

  async start(): Promise<void> {
    this.#loop = this.#run();
  }

  /** Stops leasing, and waits until exchanges have ended and are reported. Deliveries waiting for a circuit keep their leases until these end. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#occasion.notify();
    this.#left.notify();
    this.#waiting.clear();
    await this.#loop;
    const timer = setTimeout(() => this.#givingUp.abort(), 15_000 + REPORT_WHILE_STOPPING_MS);
    await Promise.all(this.#running);
    clearTimeout(timer);
  }

  /** Call when a delivery may be due. Closes the circuits of the given endpoints. */
  notify(restartedEndpointIds: readonly string[] = []): void {
    for (const id of restartedEndpointIds) {
      this.#circuits.close(id);
      this.#goOn(id, Date.now());
    }
    this.#occasion.notify();
  }

  /** Throws while deliveries cannot be leased. */
  check(): void {
    if (!this.#leasing) throw new Error('no deliveries could be fetched');
  }

  #freed(): void {
    this.#left.notify();
    if (this.#full) this.#occasion.notify();
  }

  async #run(): Promise<void> {
    const { log } = this.#options;
    for (let failures = 0; !this.#stopping.signal.aborted; ) {
      try {
        const waitMs = await this.#round();
        failures = 0;
        this.#leasing = true;
        await this.#occasion.wait(waitMs);
      } catch (error) {
        if (this.#stopping.signal.aborted) return;
        failures += 1;
        this.#leasing = false;
        logOutage(log, 'deliveries could not be fetched; trying again', failures, error);
        await pause(backoffMs(failures), this.#stopping.signal);
      }
    }
  }

  /**
   * Resolves to the number of free slots once there are enough for `wanted` deliveries or a request, or to 0 after SPARE_MS. If many are
   * wanted, deliveries that are already due go first, unless very many are: those wait for their endpoints. Only one caller may wait.
   */
  async spare(wanted: number): Promise<number> {
    const enough = Math.min(wanted, WORTH_A_REQUEST, Math.ceil(this.#options.maxInFlight / 2));
    const until = performance.now() + SPARE_MS;
    for (;;) {
      const room = this.#room();
      const left = until - performance.now();
      const later = wanted >= WORTH_A_REQUEST && this.#due > FEW_DUE && this.#due < WORTH_A_REQUEST;
      if (room >= enough && !later) return room;
      if (left <= 0 || this.#stopping.signal.aborted) return 0;
      await this.#left.wait(left);
    }
  }

  /** Call when deliveries were stored as due without a lease. */
  postponed(deliveries: number): void {
    this.#due += deliveries;
    if (deliveries > 0) this.#occasion.notify();
  }

  /**
   * Sends the deliveries that `work` resolves to. `work` receives a lease request for at most `most` deliveries, or undefined if no slot
   * is free or the worker is stopping.
   */
  borrow(most: number, work: (lease: LeaseRequest | undefined) => Promise<readonly LeasedDelivery[]>): Promise<void> {
    return this.#alone(async () => {
      const room = this.#stopping.signal.aborted ? 0 : Math.min(most, this.#room());
      const deliveries = await work(room > 0 ? this.#asked(room) : undefined);
      // Deliveries leased while stopping become due again with the heartbeat's last call.
      if (!this.#stopping.signal.aborted) for (const delivery of deliveries) this.#begin(delivery);
    });
  }

  /** Leases once. Resolves to the time until the next delivery may be due, in ms. */
  #round(): Promise<number> {
    return this.#alone(() => this.#fetch());
  }

  /** Runs leasing calls one at a time, because integrations would make a concurrent one wait or give it nothing. */
  #alone<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#lending.then(work);
    this.#lending = done.catch(() => undefined);
    return done;
  }

  async #fetch(): Promise<number> {
    const room = this.#room();
    this.#full = room <= 0;
    if (this.#full) return this.#pollMs();
    const asked = this.#asked(room);
    const { deliveries, next_due_at: nextDueAt } = await this.#options.lease(asked, { signal: this.#stopping.signal });
    // Due deliveries that were not returned are leased by other workers or wait for their endpoints.
    this.#due = deliveries.length === 0 ? 0 : Math.max(0, this.#due - deliveries.length);
    this.#left.notify();
    for (const delivery of deliveries) this.#begin(delivery);
    const taken = Map.groupBy(deliveries, ({ company_id }) => company_id);
    const busy = new Map(asked.busy_companies.map(({ company_id, max_deliveries }) => [company_id, max_deliveries]));
    const atItsShare = (companyId: string, most: number) => (taken.get(companyId)?.length ?? 0) >= most;
    this.#full =
      [...busy].some(([companyId, most]) => atItsShare(companyId, most)) ||
      [...taken.keys()].some((companyId) => atItsShare(companyId, busy.get(companyId) ?? asked.max_of_company ?? Infinity));
    // Fewer than requested means that nothing else can be sent now. New events and reports notify the worker.
    if (deliveries.length === room) return 0;
    const now = Date.now();
    const times = [nextDueAt == null ? undefined : nextDueAt / 1000, this.#circuits.nextAt(now)].filter((time) => time !== undefined);
    return Math.max(LEAST_WAIT_MS, Math.min(this.#pollMs(), ...times.map((time) => time - now)));
  }

  #pollMs(): number {
    return this.#options.hears() ? POLL.hearingMs : POLL.deafMs;
  }

  /** Number of exchanges that may begin. While reporting fails, at most 2 × maxInFlight attempts may wait to be reported. */
  #room(): number {
    return Math.max(0, Math.min(this.#bulkhead.free, 2 * this.#options.maxInFlight - this.#reporting, MOST_AT_ONCE));
  }

  #asked(room: number): LeaseRequest {
    const roomFor = (companyId: string) => Math.min(this.#bulkhead.roomFor(companyId), MOST_AT_ONCE);
    return {
      worker_id: this.#options.workerId,
      max_deliveries: room,
      max_in_flight_per_endpoint: this.#options.maxInFlightPerEndpoint,
      excluded_endpoint_ids: this.#circuits.excluded(Date.now()),
      max_of_company: roomFor(''),
      busy_companies: this.#bulkhead.busy.map((company_id) => ({ company_id, max_deliveries: roomFor(company_id) })),
      taken_delivery_ids: [...this.#taken].slice(0, MOST_TAKEN),
    };
  }

  #begin(delivery: LeasedDelivery): void {
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
    const leave = this.#bulkhead.enter(delivery.company_id);
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
    if (resultOf(report) === '2xx') this.#taken.add(id);
    try {
      await this.#report(delivery, report);
    } finally {
      this.#taken.delete(id);
      this.#reporting -= 1;
      this.#freed();
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
      this.#witness.crowdedOut(delivery);
      if (!delivery.probe) this.#circuits.notTried(delivery.endpoint_id);
      this.#goOn(delivery.endpoint_id, Date.now());
      return undefined;
    }
    const answered = endpointAnswers(report);
    this.#attempts.ended(startedAt, resultOf(report));
    this.#witness.exchanged(delivery, report);
    const wasOpen = this.#circuits.isOpen(delivery.endpoint_id, Date.now());
    const until = this.#settle(delivery, answered);
    if (!wasOpen && this.#circuits.isOpen(delivery.endpoint_id, Date.now())) this.#witness.leftAlone(delivery, report);
    return { ...report, circuit_open_until: until === undefined ? null : until * 1000 };
  }

  /** Updates the endpoint's circuit, and sends the deliveries that waited for it, unless it opened. Returns Circuits.openUntil. */
  #settle({ endpoint_id: endpointId, probe }: LeasedDelivery, answered: boolean): number | undefined {
    const now = Date.now();
    if (answered) this.#circuits.close(endpointId);
    else if (!probe) this.#circuits.failed(endpointId, now);
    const until = this.#circuits.openUntil(endpointId, now);
    if (answered || !probe) this.#goOn(endpointId, now);
    return until;
  }

  #goOn(endpointId: string, now: number): void {
    const waiting = this.#waiting.get(endpointId);
    if (waiting === undefined) return;
    this.#waiting.delete(endpointId);
    if (this.#circuits.isOpen(endpointId, now) || this.#stopping.signal.aborted) return;
    for (const delivery of waiting) {
      if (delivery.lease_expires_at / 1000 - now > LEASE_RESERVE_MS) this.#begin(delivery);
    }
  }

  async #report(delivery: LeasedDelivery, report: ReportRequest): Promise<void> {
    const { report: store, log } = this.#options;
    try {
      const { endpoint_disabled: disabled, lease_lost: lost, more_due: more } = await store(report, this.#givingUp.signal);
      if (more) this.#occasion.notify();
      if (disabled) this.#witness.disabled(delivery, report);
      if (lost) log.warn({ delivery: report.delivery_id }, 'a lease ended before its attempt was reported');
    } catch (error) {
      log.error({ error, delivery: report.delivery_id }, 'an attempt was not reported; its delivery will be due again');
    }
  }
}
