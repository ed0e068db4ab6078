import type { LeaseRequest, LeaseResponse, LeasedDelivery, ReportRequest, ReportResponse } from '@truckroll/contract/gen/integrations/v1/deliveries';
import {
  Notifier,
  backoffMs,
  durations,
  logOutage,
  onBehalfOf,
  pause,
  requestOf,
  type BackgroundPart,
  type Logger,
  type Metrics,
} from '@truckroll/service-kit';
import { endpointAnswers } from './attempt.ts';
import { Circuits } from './circuits.ts';
import { Bulkhead } from './bulkhead.ts';
import { resultOf } from './result.ts';
import { Witness } from './witness.ts';

export interface WorkerOptions {
  readonly workerId: string;
  readonly lease: (request: LeaseRequest, options: { signal: AbortSignal }) => Promise<LeaseResponse>;
  /** Resolves when the attempt is stored. */
  readonly report: (request: ReportRequest, signal: AbortSignal) => Promise<ReportResponse>;
  /** Sends a delivery once and calls `charge` with the processor time spent on its answer. Undefined if no connection was free. Never rejects. */
  readonly attempt: (delivery: LeasedDelivery, charge: (ms: number) => void) => Promise<ReportRequest | undefined>;
  readonly maxInFlight: number;
  readonly maxInFlightPerEndpoint: number;
  /** Whether `notify` is called for what users ask for. */
  readonly hears: () => boolean;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/** Deliveries of one request, and exchanges that begin together. */
const MOST_AT_ONCE = 200;
/** Fewer deliveries are not worth a request where more wait, for it costs more than they do; while one request's are sent, those of the next are stored. */
const WORTH_A_REQUEST = 100;
/** As many as a LeaseRequest names; those beyond count as in flight until their attempts are stored. */
const MOST_TAKEN = 10_000;
/** So many may be due meanwhile: an endpoint that has one is lent nothing as it is stored, so they would become more and more. */
const FEW_DUE = 24;
/** How long what comes may wait for room. */
const SPARE_MS = 200;
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
  readonly #occasion = new Notifier();
  readonly #bulkhead: Bulkhead;
  readonly #circuits = new Circuits();
  readonly #running = new Set<Promise<void>>();
  /** Attempts that are being reported. Their exchanges are over, so they take no place from others. */
  #reporting = 0;
  /** Of those, the deliveries that their endpoints took: they are in flight no more, though they are lent. */
  readonly #taken = new Set<string>();
  /** Deliveries that wait for the exchange which tries a half-open circuit, by endpoint. */
  readonly #waiting = new Map<string, LeasedDelivery[]>();
  readonly #attempts;
  readonly #witness: Witness;
  #loop: Promise<void> = Promise.resolve();
  #leasing = false;
  /** Ends when nothing more is being lent to this worker. */
  #lending: Promise<unknown> = Promise.resolve();
  /** Notified when there may be more room for what comes. */
  readonly #left = new Notifier();
  /** As far as is known here, how many deliveries are due that nobody was lent. */
  #due = 0;
  /** Whether there was more to fetch than room, of all or of a company. */
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

  /** Fetches nothing more; lets exchanges end and be reported. What waits for a circuit stays leased until that ends. */
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

  /** Something is due now. */
  notify(): void {
    this.#occasion.notify();
  }

  /** Throws while deliveries cannot be fetched. */
  check(): void {
    if (!this.#leasing) throw new Error('no deliveries could be fetched');
  }

  /** There may be more room. */
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
   * Resolves to how many deliveries may be lent, as soon as those are as many as are wanted, or enough for a request; to 0 where that takes
   * too long, for what comes is to be stored whether it can be sent at once or not. Where enough is wanted for a request, what is due
   * already goes first, unless that is much, which then waits for its own endpoints. One may wait at a time.
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

  /** Of what is due now, so many more were not lent as they were stored. */
  postponed(deliveries: number): void {
    this.#due += deliveries;
    if (deliveries > 0) this.#occasion.notify();
  }

  /**
   * Sends what `work` resolves to, so many deliveries at most. It gets what may be lent; undefined where there is no room, or no more
   * is sent.
   */
  borrow(most: number, work: (lease: LeaseRequest | undefined) => Promise<readonly LeasedDelivery[]>): Promise<void> {
    return this.#alone(async () => {
      const room = this.#stopping.signal.aborted ? 0 : Math.min(most, this.#room());
      const deliveries = await work(room > 0 ? this.#asked(room) : undefined);
      // What is lent while this ends is due again as soon as the worker has left.
      if (!this.#stopping.signal.aborted) for (const delivery of deliveries) this.#begin(delivery);
    });
  }

  /** Fetches once. Resolves to how long nothing is to be expected, in ms. */
  #round(): Promise<number> {
    return this.#alone(() => this.#fetch());
  }

  /** One call at a time lends, each what the one before it has left room for: integrations would let one wait, or lend it nothing, for the other. */
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
    // What is not found others have, or it waits for its own endpoint.
    this.#due = deliveries.length === 0 ? 0 : Math.max(0, this.#due - deliveries.length);
    this.#left.notify();
    for (const delivery of deliveries) this.#begin(delivery);
    const taken = Map.groupBy(deliveries, ({ company_id }) => company_id);
    const busy = new Map(asked.busy_companies.map(({ company_id, max_deliveries }) => [company_id, max_deliveries]));
    const atItsShare = (companyId: string, most: number) => (taken.get(companyId)?.length ?? 0) >= most;
    this.#full =
      [...busy].some(([companyId, most]) => atItsShare(companyId, most)) ||
      [...taken.keys()].some((companyId) => atItsShare(companyId, busy.get(companyId) ?? asked.max_of_company ?? Infinity));
    // Less than there was room for is all that may be sent now: new events and reports tell of more.
    if (deliveries.length === room) return 0;
    const now = Date.now();
    const times = [nextDueAt == null ? undefined : nextDueAt / 1000, this.#circuits.nextAt(now)].filter((time) => time !== undefined);
    return Math.max(LEAST_WAIT_MS, Math.min(this.#pollMs(), ...times.map((time) => time - now)));
  }

  #pollMs(): number {
    return this.#options.hears() ? POLL.hearingMs : POLL.deafMs;
  }

  /** How many more exchanges may begin: while attempts cannot be reported, no more than twice as many wait to be. */
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
      // The delivery is due again when its lease ends.
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
      // It never should; but whoever waits for this exchange must not wait for ever.
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
      if (more) this.#occasion.notify();
      if (disabled) this.#witness.disabled(delivery, report);
      if (lost) log.warn({ delivery: report.delivery_id }, 'a lease ended before its attempt was reported');
    } catch (error) {
      log.error({ error, delivery: report.delivery_id }, 'an attempt was not reported; its delivery will be due again');
    }
  }
}
