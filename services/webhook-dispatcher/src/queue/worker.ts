// The loop that leases deliveries. It repeats the first two states while they apply, and waits otherwise:
//
// | State    | When                                                | What happens                                               |
// |----------|-----------------------------------------------------|------------------------------------------------------------|
// | leasing  | a delivery may be due                               | calls Lease, and sends the deliveries that it returns      |
// | storing  | events wait, for slots at most SLOT_WAIT_MS         | stores them, and sends the deliveries leased while storing |
// | waiting  | neither                                             | sleeps until `wake`, `store`, a freed slot or a timer      |
// | failing  | Lease has just failed                               | no leasing until the backoff ends; still stores            |
// | stopping | `stop` was called                                   | no leasing; events are stored without a lease              |
//
// Calls that lease run one at a time, because integrations would make a concurrent one wait or give it nothing.
import type { LeaseRequest, LeaseResponse, LeasedDelivery } from '@truckroll/contract/gen/integrations/v1/deliveries';
import { backoffMs, logOutage, type BackgroundPart } from '@truckroll/process';
import { currentRequest, onBehalfOf } from '@truckroll/telemetry';
import { Sender, type WebhookSenderOptions } from '../send/sender.ts';
import { Pace } from './pace.ts';

export interface WorkerOptions extends Omit<WebhookSenderOptions, 'freed' | 'moreDue'> {
  readonly workerId: string;
  readonly lease: (request: LeaseRequest, options: { signal: AbortSignal }) => Promise<LeaseResponse>;
  readonly maxInFlightPerEndpoint: number;
  /** Whether `wake` is called when users request a delivery. */
  readonly subscribed: () => boolean;
}

/** Events to store. */
export interface Intake {
  readonly events: number;
  /** Whether they wait for free slots, and whether only as many are stored as can be sent at once. */
  readonly waits: boolean;
  /** Stores the first `count` events as deliveries. Leases new deliveries within `lease`; none if it is undefined. */
  readonly store: (count: number, lease: LeaseRequest | undefined) => Promise<StoredEvents>;
}

export interface StoredEvents {
  /** Number of deliveries that are due, leased ones included. */
  readonly pending: number;
  readonly deliveries: readonly LeasedDelivery[];
}

interface WaitingIntake extends Intake {
  overdue: boolean;
  /** Stores the number of events with a lease, on behalf of the caller. Never rejects. */
  run(count: number, lease: LeaseRequest | undefined): Promise<void>;
}

/** Slots reserved per event when storing it. An event may have more endpoints. */
const SLOTS_PER_EVENT = 4;
/** Free slots to wait for before storing more events: a request for fewer deliveries costs more than the deliveries do. */
const WORTH_A_REQUEST = 100;
/** Due deliveries above which new events wait: an endpoint with due ones gets no lease for a new event, so they would accumulate. */
const FEW_DUE = 24;
/** Maximum time that new events wait for free slots, in ms. */
const SLOT_WAIT_MS = 200;
/**
 * Poll intervals in ms when no delivery is known to become due. Polling finds deliveries that other workers left behind and, while
 * integrations sends no notifications, those that users request.
 */
const POLL = { subscribedMs: 2000, unsubscribedMs: 500 };
/** Minimum wait in ms: by this machine's clock, the next due time that integrations returns may be long past. */
const LEAST_WAIT_MS = 20;

/** Leases deliveries, when they are stored and when they are due, and has the Sender send them. Unreported ones are due again when their leases end. */
export class Worker implements BackgroundPart {
  readonly name = 'webhook worker';
  readonly #options: WorkerOptions;
  readonly #stopping = new AbortController();
  readonly #sender: Sender;
  readonly #pace = new Pace();
  readonly #intakes = new Set<WaitingIntake>();
  #loop: Promise<void> = Promise.resolve();
  #woken = Promise.withResolvers<void>();
  #leaseState: 'due' | 'not due' | 'failing' = 'due';
  #leaseTimer: NodeJS.Timeout | undefined;
  #failures = 0;
  #leasing = false;
  /** Estimated number of due deliveries that are not leased to any worker. */
  #due = 0;
  /** Whether the last lease request was limited by free slots, in total or of one company. */
  #full = false;

  constructor(options: WorkerOptions) {
    this.#options = options;
    this.#sender = new Sender({ ...options, freed: () => this.#freed(), moreDue: () => this.#leaseSoon() });
  }

  async start(): Promise<void> {
    this.#loop = this.#run();
  }

  /** Stops leasing, and waits until exchanges have ended and are reported. Events are still stored, without a lease. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    clearTimeout(this.#leaseTimer);
    this.#woken.resolve();
    const sent = this.#sender.stop();
    await this.#loop;
    for (const intake of this.#intakes) await this.#storeEvents(intake, intake.events);
    await sent;
  }

  /** Throws while deliveries cannot be leased. */
  check(): void {
    if (!this.#leasing) throw new Error('no deliveries could be fetched');
  }

  /** Call when a delivery may be due. Closes the circuits of the given endpoints. */
  wake(restartedEndpointIds: readonly string[] = []): void {
    this.#sender.restart(restartedEndpointIds);
    this.#leaseSoon();
  }

  /** Stores events, and sends the deliveries that are leased with them. Resolves to the number of events stored; rejects as `store` does. */
  async store(intake: Intake): Promise<number> {
    const request = currentRequest();
    const stored = Promise.withResolvers<number>();
    const waiting: WaitingIntake = {
      ...intake,
      overdue: false,
      run: async (count, lease) => {
        try {
          const { pending, deliveries } = await onBehalfOf(request, () => intake.store(count, lease));
          this.#pace.stored(count, pending);
          this.#due += pending - deliveries.length;
          if (pending > deliveries.length) this.#leaseSoon();
          this.#sender.send(deliveries);
          stored.resolve(count);
        } catch (error) {
          stored.reject(error);
        }
      },
    };
    if (this.#stopping.signal.aborted) {
      await waiting.run(intake.events, undefined);
      return await stored.promise;
    }
    this.#intakes.add(waiting);
    this.#woken.resolve();
    const timer = setTimeout(() => {
      waiting.overdue = true;
      this.#woken.resolve();
    }, SLOT_WAIT_MS);
    return await stored.promise.finally(() => clearTimeout(timer));
  }

  async #run(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      this.#woken = Promise.withResolvers();
      const isDue = this.#leaseState === 'due';
      if (isDue) await this.#lease();
      const stored = await this.#storeReady();
      if (!isDue && !stored) await this.#woken.promise;
    }
  }

  /** Stores the events of the first intake that need not wait. False if there is none. */
  async #storeReady(): Promise<boolean> {
    for (const intake of this.#intakes) {
      const count = this.#countOf(intake);
      if (count === 0) continue;
      await this.#storeEvents(intake, count);
      return true;
    }
    return false;
  }

  async #lease(): Promise<void> {
    clearTimeout(this.#leaseTimer);
    this.#leaseState = 'not due';
    let waitMs: number;
    try {
      waitMs = await this.#leaseOnce();
      this.#failures = 0;
      this.#leasing = true;
    } catch (error) {
      if (this.#stopping.signal.aborted) return;
      this.#failures += 1;
      this.#leasing = false;
      this.#leaseState = 'failing';
      logOutage(this.#options.log, 'deliveries could not be fetched; trying again', this.#failures, error);
      waitMs = backoffMs(this.#failures);
    }
    if (this.#stopping.signal.aborted) return;
    if (waitMs === 0) return this.#leaseSoon();
    this.#leaseTimer = setTimeout(() => {
      this.#leaseState = 'due';
      this.#woken.resolve();
    }, waitMs);
  }

  /** Resolves to the time until the next delivery may be due, in ms. */
  async #leaseOnce(): Promise<number> {
    const { lease, subscribed } = this.#options;
    const pollMs = subscribed() ? POLL.subscribedMs : POLL.unsubscribedMs;
    const { free } = this.#sender;
    this.#full = free <= 0;
    if (this.#full) return pollMs;
    const request = this.#request(free);
    const { deliveries, next_due_at: nextDueAt } = await lease(request, { signal: this.#stopping.signal });
    // Due deliveries that were not returned are leased by other workers or wait for their endpoints.
    this.#due = deliveries.length === 0 ? 0 : Math.max(0, this.#due - deliveries.length);
    this.#sender.send(deliveries);
    this.#full = isLimited(request, deliveries);
    // Fewer than requested means that nothing else can be sent now. New events and reports wake the worker.
    if (deliveries.length === free) return 0;
    const now = Date.now();
    const times = [nextDueAt == null ? undefined : nextDueAt / 1000, this.#sender.nextTestAt(now)].filter((time) => time !== undefined);
    return Math.max(LEAST_WAIT_MS, Math.min(pollMs, ...times.map((time) => time - now)));
  }

  #request(free: number): LeaseRequest {
    const { workerId, maxInFlightPerEndpoint } = this.#options;
    return { worker_id: workerId, max_deliveries: free, max_in_flight_per_endpoint: maxInFlightPerEndpoint, ...this.#sender.limits() };
  }

  #leaseSoon(): void {
    if (this.#leaseState === 'not due') this.#leaseState = 'due';
    this.#woken.resolve();
  }

  #freed(): void {
    if (this.#full) this.#leaseSoon();
    if (this.#intakes.size > 0) this.#woken.resolve();
  }

  /** Number of events to store now; 0 while they wait. Many events wait for due deliveries too, unless very many are due, which wait for their endpoints. */
  #countOf({ events, waits, overdue }: WaitingIntake): number {
    if (!waits) return events;
    const { free } = this.#sender;
    const wanted = this.#pace.deliveriesOf(events);
    const enough = Math.min(wanted, WORTH_A_REQUEST, Math.ceil(this.#options.maxInFlight / 2));
    const dueFirst = wanted >= WORTH_A_REQUEST && this.#due > FEW_DUE && this.#due < WORTH_A_REQUEST;
    if (free >= enough && !dueFirst) return this.#pace.fitting(events, free);
    return overdue ? events : 0;
  }

  async #storeEvents(intake: WaitingIntake, count: number): Promise<void> {
    this.#intakes.delete(intake);
    const free = this.#stopping.signal.aborted ? 0 : Math.min(count * SLOTS_PER_EVENT, this.#sender.free);
    await intake.run(count, free > 0 ? this.#request(free) : undefined);
  }
}

/** Whether a company has got as many deliveries as the request allows it. */
function isLimited(request: LeaseRequest, deliveries: readonly LeasedDelivery[]): boolean {
  const leased = Map.groupBy(deliveries, ({ company_id }) => company_id);
  const busy = new Map(request.busy_companies.map(({ company_id, max_deliveries }) => [company_id, max_deliveries]));
  return [...new Set([...busy.keys(), ...leased.keys()])].some(
    (companyId) => (leased.get(companyId)?.length ?? 0) >= (busy.get(companyId) ?? request.max_of_company ?? Infinity),
  );
}
