// Limits concurrent calls and decides whose call is next: an adaptive concurrency limit, like Netflix's concurrency-limits and Envoy's
// adaptive concurrency, in front of a fair queue between companies. The reasons are in docs/adr/0011.
//
// State    While                               Maximum number of calls                     Next state
// open     one company is active               MOST_SLOTS                                  limited: a second company becomes active
// limited  several are active                  the limit; a company without a call may     open: the others are silent for a second
//                                              start one more, up to twice the limit       paced: a company floods and the limit is below 1
// paced    one floods and the limit is below   one of the flood, which then pauses; other  limited: the limit is 1 again, or the flood is over
//          1                                   companies as in limited                     open: the others are silent for a second
//
// Request  Next
// queued   running: a slot is free, and its company has used the least of those that may take it
//          shed (429): the queue is full, its company has the most requests in it, and this is the newest of them
//          late (503): it has waited for MAX_WAIT_MS
// running  stalled: it has taken PERIOD_MS while others wait, and gives up its slot
import { FairQueue, type Flow } from '@truckroll/process';
import type { Logger, Metrics } from '@truckroll/telemetry';

/** Maximum concurrent calls: enough to keep the processors behind a gateway busy. */
export const MOST_SLOTS = 32;
/** Lowest limit without a flood: one call each in the gateway, the service and PostgreSQL, and one on its way between them. */
export const LEAST_SLOTS = 4;
/** Slots of a request that shares its call to a service (ADR 14): four such requests cost about as much as one call. */
export const SHARED_WEIGHT = 1 / 4;
/** Maximum number of waiting requests of all companies: what one core answers in half a second. */
export const QUEUE = 256;
/** Maximum time in ms that a request waits: a client that has waited longer has often given up. Also the interval of log lines about shed requests. */
const MAX_WAIT_MS = 5000;
/** Milliseconds between changes of the limit. A call that takes longer waits for something other than a processor. Also a flood's longest pause. */
export const PERIOD_MS = 250;
/** The limit falls by this factor if other companies' mean latency ÷ unloaded latency is above it. The value is the default of Gradient2. */
const TOLERANCE = 1.5;
/** An answer is late above this latency ÷ unloaded latency. During a flood, LATE_SHARE of the answers to other companies may be late. */
const LATE = 3;
const LATE_SHARE = 0.01;
/** A company floods if the others ask for less than this share of everything. A flood always keeps this share of the time. */
const FLOOR = 0.1;
/** Weight of the newest call in the average that is the unloaded latency. */
const SMOOTHING = 0.2;

export type State = 'open' | 'limited' | 'paced';

/** Average unloaded latency of one operation: of calls that run alone, and of any that are faster. */
export class Baseline {
  #ms: number | undefined;

  /** Undefined before the first call. */
  get ms(): number | undefined {
    return this.#ms;
  }

  /** Learns from a call and returns its latency ÷ unloaded latency. */
  compare(ms: number, isAlone: boolean): number {
    if (this.#ms === undefined) this.#ms = ms;
    else if (isAlone || ms < this.#ms) this.#ms += SMOOTHING * (ms - this.#ms);
    return ms / this.#ms;
  }
}

export interface Call {
  readonly company: string;
  /** Slots that it holds. */
  readonly weight: number;
  readonly startedAt: number;
  /** Number of calls that started, including this one; NaN if another was running. */
  readonly alone: number;
  isStalled: boolean;
}

/** Demand of one company. Counts halve each period; `compared` calls and the sum of their `slowness` are of this period only. */
interface Load {
  requests: number;
  served: number;
  servedMs: number;
  compared: number;
  slowness: number;
}

export class Limiter {
  readonly #queue = new FairQueue({ admits: (flow) => this.#admits(flow), queue: QUEUE, maxWaitMs: MAX_WAIT_MS });
  readonly #loads = new Map<string, Load>();
  /** Running calls, oldest first. */
  readonly #calls = new Set<Call>();
  #limit = MOST_SLOTS;
  /** When a late answer lowered the limit, as performance.now(). */
  #fellAt = -Infinity;
  #periodAt = performance.now();
  /** Maximum number of concurrent calls in this period. */
  #peak = 0;
  #begun = 0;
  #flood: string | undefined;
  #restsUntil = -Infinity;
  #isWatching = false;

  get state(): State {
    if (this.#loads.size < 2) return 'open';
    return this.#limit < 1 ? 'paced' : 'limited';
  }

  /** Maximum number of concurrent calls; below 1, the share of the time in which a flood's calls may run. */
  get limit(): number {
    return this.state === 'open' ? MOST_SLOTS : this.#limit;
  }

  get isFull(): boolean {
    return this.#queue.waiting >= QUEUE;
  }

  get waiting(): number {
    return this.#queue.waiting;
  }

  /** Whether one more request of the company would be shed. */
  sheds(company: string): boolean {
    return this.#queue.sheds(company);
  }

  /** Charges a company for an error that was answered without `enter`. */
  charge(company: string, ms: number): void {
    this.#queue.charge(company, ms);
  }

  /** Charges a company for a request that was shed without `enter`. It still counts as demand. */
  chargeShed(company: string, ms: number): void {
    this.#note(company);
    this.charge(company, ms);
  }

  #note(company: string): void {
    this.#endPeriod();
    const load = this.#loads.get(company);
    if (load === undefined) this.#loads.set(company, { requests: 1, served: 0, servedMs: 0, compared: 0, slowness: 0 });
    else load.requests += 1;
  }

  /** Resolves when the request may run with `weight` slots; `leave` must follow. Throws or rejects with SHED or ApiError 503. */
  enter(company: string, weight = 1): Call | Promise<Call> {
    this.#note(company);
    const turn = this.#queue.enter(company, weight);
    if (turn === undefined) return this.#begin(company, weight);
    this.#watch();
    return turn.then(() => this.#begin(company, weight));
  }

  /** Ends a call of an operation. Errors are not compared with the operation's baseline. */
  leave(call: Call, baseline: Baseline, isRight: boolean): void {
    const { company, startedAt, weight } = call;
    const ms = performance.now() - startedAt;
    this.#calls.delete(call);
    const load = this.#loads.get(company);
    if (load !== undefined) {
      load.served += 1;
      // Demand is unloaded time: a company that others slow down does not ask for more.
      load.servedMs += baseline.ms ?? ms;
    }
    if (isRight) this.#compare(call, load, baseline.compare(ms, call.alone === this.#begun));
    if (this.state === 'paced' && company === this.#flood) this.#rest(ms);
    if (!call.isStalled) this.#queue.leave(company, weight);
    this.#endPeriod();
  }

  #admits({ name, held }: Flow): boolean {
    const { state } = this;
    const total = this.#queue.held;
    if (state === 'open') return total < MOST_SLOTS;
    const slots = Math.max(1, Math.floor(this.#limit));
    if (state === 'paced' && name === this.#flood) return total < slots && performance.now() >= this.#restsUntil;
    return total < slots || (held === 0 && total < 2 * slots);
  }

  #begin(company: string, weight: number): Call {
    this.#begun += 1;
    const call: Call = { company, weight, startedAt: performance.now(), alone: this.#calls.size === 0 ? this.#begun : NaN, isStalled: false };
    this.#calls.add(call);
    this.#peak = Math.max(this.#peak, this.#calls.size);
    return call;
  }

  #rest(ms: number): void {
    const rest = Math.min(PERIOD_MS, ms * (1 / this.#limit - 1));
    this.#restsUntil = performance.now() + rest;
    // Timers may be early by part of a millisecond.
    setTimeout(() => this.#queue.fill(), rest + 1).unref();
  }

  #endPeriod(): void {
    const periods = Math.floor((performance.now() - this.#periodAt) / PERIOD_MS);
    if (periods < 1) return;
    this.#periodAt += periods * PERIOD_MS;
    this.#adjust();
    for (const [company, load] of this.#loads) {
      for (const count of ['requests', 'served', 'servedMs'] as const) load[count] *= 0.5 ** periods;
      load.compared = load.slowness = 0;
      if (load.requests < FLOOR) this.#loads.delete(company);
    }
    this.#peak = this.#calls.size;
    this.#queue.fill();
  }

  /** Ignores the latency of the company with the largest demand: it may slow itself down. */
  #adjust(): void {
    if (this.state === 'open') return;
    let [all, most, compared, slowness] = [0, 0, 0, 0];
    let largest: string | undefined;
    for (const [company, { requests, served, servedMs }] of this.#loads) {
      const demand = served === 0 ? 0 : (requests * servedMs) / served;
      all += demand;
      if (demand > most) [largest, most] = [company, demand];
    }
    for (const [company, load] of this.#loads) {
      if (company === largest) continue;
      compared += load.compared;
      slowness += load.slowness;
    }
    this.#flood = all - most < FLOOR * all ? largest : undefined;
    if (this.#flood !== undefined) return;
    // Calls that never overlap cannot slow each other down.
    if (slowness > TOLERANCE * compared && this.#peak > 1) this.#setLimit(Math.min(this.#limit, this.#peak) / TOLERANCE);
    else this.#setLimit(compared > 0 ? this.#limit + 1 : this.#limit);
  }

  #compare(call: Call, load: Load | undefined, slowness: number): void {
    if (load === undefined) return;
    load.compared += 1;
    load.slowness += slowness;
    if (this.#flood !== undefined && call.company !== this.#flood) this.#follow(call, slowness > LATE);
  }

  /**
   * During a flood the limit follows each answer to another company. The factors cancel out if LATE_SHARE of the answers are late. A call
   * that began before the limit fell says nothing about the new limit.
   */
  #follow({ startedAt }: Call, isLate: boolean): void {
    if (startedAt < this.#fellAt) return;
    if (isLate) this.#fellAt = performance.now();
    this.#setLimit(isLate ? this.#limit / Math.E : this.#limit * (1 + LATE_SHARE));
  }

  #setLimit(limit: number): void {
    this.#limit = Math.min(MOST_SLOTS, Math.max(this.#flood === undefined ? LEAST_SLOTS : FLOOR, limit));
  }

  /** While requests wait: ends periods, and takes the slots of stalled calls. */
  #watch(): void {
    if (this.#isWatching) return;
    this.#isWatching = true;
    setTimeout(() => {
      this.#isWatching = false;
      this.#endPeriod();
      for (const call of this.#calls) {
        if (performance.now() - call.startedAt < PERIOD_MS) break;
        if (!call.isStalled) this.#queue.leave(call.company, call.weight);
        call.isStalled = true;
      }
      if (this.#queue.waiting > 0) this.#watch();
    }, PERIOD_MS).unref();
  }
}

/** Registers the limiter's metrics. Returns a function that counts and logs a shed request. */
export function watchLimiter(limiter: Limiter, log: Logger, metrics: Metrics): () => void {
  const shed = metrics.counter('gateway_shed_total', 'Requests rejected with 429 because the queue was full and their company had the most waiting');
  metrics.observedGauge('gateway_calls_waiting', 'Requests that wait for a slot', () => limiter.waiting);
  metrics.observedGauge(
    'gateway_calls_limit',
    'Maximum number of concurrent calls; below 1, the share of the time in which calls of a flood may run',
    () => limiter.limit,
  );
  let unlogged = 0;
  return () => {
    shed.inc({});
    unlogged += 1;
    if (unlogged > 1) return;
    setTimeout(() => {
      log.warn({ requests: unlogged }, 'rejected requests because the queue was full');
      unlogged = 0;
    }, MAX_WAIT_MS).unref();
  };
}
