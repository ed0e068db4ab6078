// Who is let in when there is more to do than can be done: as many calls at once as services answer quickly, companies in
// turn, fewer of who asks for most, a short queue for each, and at once a refusal for what does not fit (docs/operations.md,
// Beyond capacity).
import { ApiError, type Owner } from '@truckroll/contract';
import { CompaniesAbout, Places, type Logger, type Metrics } from '@truckroll/service-kit';
import type { LimitClass } from '../auth/limits.ts';
import { AdaptiveLimit, LEAST } from './adaptive-limit.ts';
import { Slowness } from './slowness.ts';
import { PATIENCE_MS, QUEUE, Throttle } from './throttle.ts';

/** Around calls that slow each other down, those of one kind to one service: what fills one leaves room in the others. */
export interface Bulkhead {
  /** One more call of the company has come. */
  asked(companyId: string): void;
  /** Whether one more call of the company would have to be refused, which costs next to nothing to find out. */
  refuses(companyId: string): boolean;
  /** Both: asked first of all. */
  full(companyId: string): boolean;
  /** Resolves when it is the call's turn; undefined where that is now. Throws or rejects with ApiError 429 or 503. `leave` must follow. */
  enter(companyId: string): Promise<void> | undefined;
  /**
   * Must follow `enter`, with the milliseconds since. `right` is an answer without an error. Any other answer is charged to the company by its
   * time, which says nothing about the operation's.
   */
  leave(companyId: string, milliseconds: number, right: boolean): void;
}

export interface Admission {
  /** Whether as many wait as a single company may: nobody is refused before that. */
  readonly crowded: boolean;
  /** Charges a company for a request that was answered with an error before `enter`, by the milliseconds that it took. */
  charge(companyId: string, milliseconds: number): void;
  /** Of one operation. */
  bulkhead(owner: Owner, limitClass: LimitClass): Bulkhead;
  /** The one answer to all that does not fit; counted and told of by `refused`. */
  readonly refusal: ApiError;
  refused(): void;
}

/** Of the places, one company's: another that comes finds one. */
const SHARE = 3 / 4;
/** The same while others are about: what they ask for begins at once, beside few calls of its. */
const SHARE_BESIDE = 1 / 4;
/** Those that wait in all before who waits already gets no second place in the queue. */
const MOST_WAITING = 200;
/** Refusals are told of together. Milliseconds. */
const TOLD_EVERY_MS = 1000;

/** Calls that share a service's time. */
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
 * The throttle comes before a place of its kind: what it holds back is to hold none that another company waits for. A service that
 * stands still holds up what is asked of it and nothing else, for who waits for its places lets others begin in its stead.
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
