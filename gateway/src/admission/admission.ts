// Admission control under overload: limits concurrent calls to what services answer quickly, takes companies in turn, holds back the
// company that floods, keeps each company's queue short, and rejects the rest at once (docs/operations.md, Beyond capacity).
import { ApiError, type Owner } from '@truckroll/contract';
import { CompaniesAbout, Places, type Logger, type Metrics } from '@truckroll/service-kit';
import type { LimitClass } from '../auth/limits.ts';
import { AdaptiveLimit, LEAST } from './adaptive-limit.ts';
import { Slowness } from './slowness.ts';
import { PATIENCE_MS, QUEUE, Throttle } from './throttle.ts';

/** Limits the calls of one kind to one service, so that a slow kind leaves room for the others. */
export interface Bulkhead {
  /** Notes that a request of the company arrived. */
  asked(companyId: string): void;
  /** Whether the company's next call would be rejected. Cheap enough to ask before anything else. */
  refuses(companyId: string): boolean;
  /** `asked`, then `refuses`. */
  full(companyId: string): boolean;
  /** Resolves when the call may start; returns undefined if it may start now. Throws or rejects with ApiError 429 or 503. `leave` must follow. */
  enter(companyId: string): Promise<void> | undefined;
  /** Must follow `enter`, with the latency in ms. An error (`right` is false) is charged to the company, but is no measure of the operation. */
  leave(companyId: string, milliseconds: number, right: boolean): void;
}

export interface Admission {
  /** Whether at least as many calls wait as one company may queue. Until then no call is rejected. */
  readonly crowded: boolean;
  /** Charges a company for a request that failed before `enter`, by the milliseconds that it took. */
  charge(companyId: string, milliseconds: number): void;
  bulkhead(owner: Owner, limitClass: LimitClass): Bulkhead;
  /** The error for every rejected request; `refused` counts and logs it. */
  readonly refusal: ApiError;
  refused(): void;
}

/** Share of the slots that one company may hold, so that a second company always finds one free. */
const SHARE = 3 / 4;
/** The same share while other companies are active, so that their calls start at once and run next to few of its calls. */
const SHARE_BESIDE = 1 / 4;
/** Queue length, over all companies, at which each company may hold only one waiting call. */
const MOST_WAITING = 200;
/** Minimum time between log lines about rejected requests, in ms. */
const TOLD_EVERY_MS = 1000;

interface Kind {
  readonly places: Places;
  readonly limit: AdaptiveLimit;
}

export function createAdmission(log: Logger, metrics: Metrics): Admission {
  const kinds = new Map<string, Kind>();
  const about = new CompaniesAbout();
  const throttle = new Throttle();
  const refusals = metrics.counter('gateway_shed_total', 'Requests refused as too many of one company were under way or waiting');
  const sum = (of: (kind: Kind) => number) => (): number => {
    let total = 0;
    for (const kind of kinds.values()) total += of(kind);
    return total;
  };
  const waiting = sum(({ places }) => places.waiting);
  metrics.observedGauge('gateway_calls_waiting', 'Requests that wait for their company’s turn', () => waiting() + throttle.waiting);
  metrics.observedGauge('gateway_throttle_limit', 'Calls at once of a company that asks for most, beside others, of all kinds together', () => throttle.limit);
  metrics.observedGauge(
    'gateway_calls_limit',
    'Calls that may be under way at once, of all kinds together',
    sum(({ limit }) => limit.limit),
  );
  let untold = 0;

  function refused(): void {
    refusals.inc({});
    untold += 1;
    if (untold > 1) return;
    setTimeout(() => {
      log.warn({ requests: untold }, 'refused requests as too many were under way');
      untold = 0;
    }, TOLD_EVERY_MS).unref();
  }

  function open(): Kind {
    const limit = new AdaptiveLimit();
    const places = new Places({
      get places() {
        return limit.limit;
      },
      get share() {
        return Math.floor(limit.limit * SHARE);
      },
      get shareBeside() {
        return Math.max(LEAST * SHARE_BESIDE, Math.floor(limit.limit * SHARE_BESIDE));
      },
      get queue() {
        return limit.queue;
      },
      about,
      patienceMs: PATIENCE_MS,
      onRefused: refused,
    });
    return { places, limit };
  }

  return {
    get crowded() {
      return throttle.waiting + waiting() >= QUEUE;
    },
    charge: (companyId, milliseconds) => throttle.asked(companyId, milliseconds),
    bulkhead(owner, limitClass) {
      const name = `${owner} ${limitClass}`;
      let kind = kinds.get(name);
      if (kind === undefined) kinds.set(name, (kind = open()));
      return bulkheadOf(kind, throttle);
    },
    refusal: new ApiError('RATE_LIMITED', 'Too much of this company is under way at once. Send it again after the time in Retry-After.', {
      retryAfterSeconds: 1,
    }),
    refused,
  };
}

/**
 * A call passes the throttle before it takes a slot of its kind, so that a throttled call holds no slot that another company needs. When a
 * service stalls, calls waiting for its slots let other calls of their company pass the throttle.
 */
function bulkheadOf({ places, limit }: Kind, throttle: Throttle): Bulkhead {
  const slowness = new Slowness();

  function enterPlaces(companyId: string): Promise<void> | undefined {
    const abandon = (error: unknown): never => {
      throttle.leave(companyId, 0);
      throw error;
    };
    try {
      const turn = places.enter(companyId);
      if (turn === undefined) return undefined;
      limit.waited();
      return throttle.heldUp(turn).catch(abandon);
    } catch (error) {
      return abandon(error);
    }
  }

  const asked = (companyId: string): void => throttle.asked(companyId, slowness.best);
  function refuses(companyId: string): boolean {
    if (throttle.full(companyId)) return true;
    if (places.waiting === 0) return false;
    const own = places.waitingOf(companyId);
    return own >= limit.queue || (own > 0 && places.waiting >= MOST_WAITING);
  }

  return {
    asked,
    refuses,
    full(companyId) {
      asked(companyId);
      return refuses(companyId);
    },
    enter(companyId) {
      const turn = throttle.enter(companyId);
      return turn === undefined ? enterPlaces(companyId) : turn.then(() => enterPlaces(companyId));
    },
    leave(companyId, milliseconds, right) {
      if (right) {
        limit.ended(milliseconds);
        if (throttle.isLarge(companyId)) throttle.answeredMost(slowness.answered(milliseconds));
        else throttle.answeredOthers(milliseconds / slowness.best, slowness.answeredOthers(milliseconds));
      } else {
        throttle.asked(companyId, milliseconds);
      }
      throttle.leave(companyId, milliseconds);
      places.leave(companyId);
    },
  };
}
