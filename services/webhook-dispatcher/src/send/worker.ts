import type { LeaseRequest, LeaseResponse, LeasedDelivery, ReportRequest, ReportResponse } from '@truckroll/contract/gen/integrations/v1/deliveries';
import { backoffMs, durations, logOutage, onBehalfOf, requestOf, type BackgroundPart, type Logger, type Metrics } from '@truckroll/service-kit';
import { endpointAnswers } from './attempt.ts';
import { Alarm } from './alarm.ts';
import { Circuits } from './circuits.ts';
import { Lanes } from './lanes.ts';
import { resultOf } from './result.ts';
import { Witness } from './witness.ts';

export interface WorkerOptions {
  readonly workerId: string;
  readonly lease: (request: LeaseRequest, options: { signal: AbortSignal }) => Promise<LeaseResponse>;
  /** Resolves when the attempt is stored. */
  readonly report: (request: ReportRequest, signal: AbortSignal) => Promise<ReportResponse>;
  /** Sends a delivery once; never rejects. */
  readonly attempt: (delivery: LeasedDelivery) => Promise<ReportRequest>;
  readonly maxInFlight: number;
  readonly maxInFlightPerEndpoint: number;
  /** Whether `wake` is called for what users ask for. */
  readonly hears: () => boolean;
  readonly log: Logger;
  readonly metrics: Metrics;
}

const MOST_AT_ONCE = 200;
/**
 * How long to wait where nothing is known to become due: for what other workers leave behind, and for what users ask for, which
 * is heard of unless nothing is.
 */
const POLL = { hearingMs: 2000, deafMs: 500 };
/** What integrations holds for due soon may be long past by the clock of this machine. */
const LEAST_WAIT_MS = 20;
/** A delivery that has waited here is sent only while its lease lasts longer than an exchange may take. */
const LEASE_RESERVE_MS = 20_000;
/** How long reports are tried while stopping; runService allows 40 s for all, and exchanges take up to 15 s. */
const REPORT_WHILE_STOPPING_MS = 8000;

/**
 * Fetches what is due, sends it, reports it. It remembers nothing that matters: what it does not report is due again when
 * its lease ends.
 */
export class Worker implements BackgroundPart {
  readonly name = 'webhook worker';
  readonly #options: WorkerOptions;
  readonly #stopping = new AbortController();
  readonly #givingUp = new AbortController();
  readonly #alarm = new Alarm();
  readonly #lanes: Lanes;
  readonly #circuits = new Circuits();
  readonly #running = new Set<Promise<void>>();
  /** Deliveries that wait for the exchange which tries a half-open circuit, by endpoint. */
  readonly #waiting = new Map<string, LeasedDelivery[]>();
  readonly #attempts;
  readonly #witness: Witness;
  #loop: Promise<void> = Promise.resolve();
  #leasing = false;
  /** Room for deliveries that were asked for and have not come yet. */
  #promised = 0;
  /** Whether there was more to fetch than room, of all or of a company. */
  #full = false;

  constructor(options: WorkerOptions) {
    this.#options = options;
    const { metrics } = options;
    this.#lanes = new Lanes(options.maxInFlight, () => this.#full && this.#alarm.ring());
    this.#attempts = durations(
      metrics, 'webhook_attempt_duration_seconds', 'Exchanges with endpoints by result: 2xx, 3xx, 4xx, 5xx, timeout, refused (no connection), dns, blocked (a target that is not allowed), tls, broken', ['result'],
    );
    this.#witness = new Witness(options.log);
    metrics.observedGauge('webhook_circuits_open', 'Endpoints that are left alone for a time as they fail, by this replica', () => this.#circuits.open(Date.now()));
    metrics.observedGauge('webhook_in_flight', 'Exchanges with endpoints that are going on', () => this.#lanes.inFlight);
  }

  async start(): Promise<void> {
    this.#loop = this.#run();
  }

  /** Fetches nothing more; lets exchanges end and be reported. What waits for a circuit stays leased until that ends. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#alarm.ring();
    this.#waiting.clear();
    await this.#loop;
    const timer = setTimeout(() => this.#givingUp.abort(), 15_000 + REPORT_WHILE_STOPPING_MS);
    await Promise.all(this.#running);
    clearTimeout(timer);
  }

  /** Something is due now. */
  wake(): void {
    this.#alarm.ring();
  }

  /** Throws while deliveries cannot be fetched. */
  check(): void {
    if (!this.#leasing) throw new Error('no deliveries could be fetched');
  }

  async #run(): Promise<void> {
    const { log } = this.#options;
    for (let failures = 0; !this.#stopping.signal.aborted; ) {
      try {
        const waitMs = await this.#round();
        failures = 0;
        this.#leasing = true;
        await this.#alarm.wait(waitMs);
      } catch (error) {
        if (this.#stopping.signal.aborted) return;
        failures += 1;
        this.#leasing = false;
        logOutage(log, 'deliveries could not be fetched; trying again', failures, error);
        await this.#alarm.pause(backoffMs(failures), this.#stopping.signal);
      }
    }
  }

  /**
   * Keeps room free for so many deliveries at most while `work` runs, and sends those that it resolves to. It gets what may
   * be lent; undefined where there is no room, or no more is sent.
   */
  async borrow(most: number, work: (lease: LeaseRequest | undefined) => Promise<readonly LeasedDelivery[]>): Promise<void> {
    const room = this.#stopping.signal.aborted ? 0 : Math.min(most, this.#room());
    const deliveries = await this.#promising(room, () => work(room > 0 ? this.#asked(room) : undefined));
    // What is lent while this ends is due again as soon as the worker has left.
    if (!this.#stopping.signal.aborted) for (const delivery of deliveries) this.#begin(delivery);
  }

  /** Fetches once. Resolves to how long nothing is to be expected, in ms. */
  async #round(): Promise<number> {
    const room = this.#room();
    this.#full = room <= 0;
    if (this.#full) return this.#pollMs();
    const asked = this.#asked(room);
    const { deliveries, next_due_at: nextDueAt } = await this.#promising(room, () => this.#options.lease(asked, { signal: this.#stopping.signal }));
    for (const delivery of deliveries) this.#begin(delivery);
    const taken = Map.groupBy(deliveries, ({ company_id }) => company_id);
    const busy = new Map(asked.busy_companies.map(({ company_id, max_deliveries }) => [company_id, max_deliveries]));
    const atItsShare = (companyId: string, most: number) => (taken.get(companyId)?.length ?? 0) >= most;
    this.#full = [...busy].some(([companyId, most]) => atItsShare(companyId, most)) || [...taken.keys()].some((companyId) => atItsShare(companyId, busy.get(companyId) ?? asked.max_of_company ?? Infinity));
    // Less than there was room for is all that may be sent now: new events and reports tell of more.
    if (deliveries.length === room) return 0;
    const now = Date.now();
    const times = [nextDueAt == null ? undefined : nextDueAt / 1000, this.#circuits.nextAt(now)].filter((time) => time !== undefined);
    return Math.max(LEAST_WAIT_MS, Math.min(this.#pollMs(), ...times.map((time) => time - now)));
  }

  #pollMs(): number {
    return this.#options.hears() ? POLL.hearingMs : POLL.deafMs;
  }

  /** For how many more exchanges there is room that is promised to nobody. */
  #room(): number {
    return Math.min(this.#lanes.free - this.#promised, MOST_AT_ONCE);
  }

  async #promising<T>(room: number, work: () => Promise<T>): Promise<T> {
    this.#promised += room;
    try {
      return await work();
    } finally {
      this.#promised -= room;
      if (this.#full && room > 0) this.#alarm.ring();
    }
  }

  #asked(room: number): LeaseRequest {
    const roomFor = (companyId: string) => Math.min(this.#lanes.roomFor(companyId), MOST_AT_ONCE);
    return {
      worker_id: this.#options.workerId,
      max_deliveries: room,
      max_in_flight_per_endpoint: this.#options.maxInFlightPerEndpoint,
      excluded_endpoint_ids: this.#circuits.excluded(Date.now()),
      max_of_company: roomFor(''),
      busy_companies: this.#lanes.busy.map((company_id) => ({ company_id, max_deliveries: roomFor(company_id) })),
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
    const leave = this.#lanes.enter(delivery.company_id);
    try {
      const startedAt = performance.now();
      const report = await this.#options.attempt(delivery).catch((error: unknown) => {
        // It never should; but whoever waits for this exchange must not wait for ever.
        this.#settle(delivery, false);
        throw error;
      });
      const answered = endpointAnswers(report);
      this.#attempts.ended(startedAt, resultOf(report));
      this.#witness.exchanged(delivery, report);
      const wasOpen = this.#circuits.isOpen(delivery.endpoint_id, Date.now());
      const until = this.#settle(delivery, answered);
      if (!wasOpen && this.#circuits.isOpen(delivery.endpoint_id, Date.now())) this.#witness.leftAlone(delivery, report);
      await this.#report(delivery, { ...report, circuit_open_until: until === undefined ? null : until * 1000 });
    } finally {
      leave();
    }
  }

  /**
   * Notes how an endpoint does, and goes on with what has waited to know, or leaves it to become due again. Returns how its
   * circuit stands, as Circuits.openUntil.
   */
  #settle({ endpoint_id: endpointId, probe }: LeasedDelivery, answered: boolean): number | undefined {
    const now = Date.now();
    if (answered) this.#circuits.succeeded(endpointId);
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
      if (more) this.#alarm.ring();
      if (disabled) this.#witness.disabled(delivery, report);
      if (lost) log.warn({ delivery: report.delivery_id }, 'a lease ended before its attempt was reported');
    } catch (error) {
      log.error({ error, delivery: report.delivery_id }, 'an attempt was not reported; its delivery will be due again');
    }
  }
}
