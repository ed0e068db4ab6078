import { ApiError } from '@truckroll/contract';

export interface PlacesOptions {
  /** Total number of slots. */
  readonly places: number;
  /** Maximum slots of one company. */
  readonly share: number;
  /** Maximum slots of one company while another one is active: see CompaniesAbout. Default: `share`. */
  readonly shareBeside?: number;
  /** Replaces `share` and `shareBeside` with a limit per company. When a limit grows, call `fill`. */
  readonly shareOf?: (name: string) => number;
  /** Records which companies are active; may be shared by several Places. */
  readonly about?: CompaniesAbout;
  /** Maximum waiting calls of one company; one more is refused with 429. */
  readonly queue: number;
  /** Maximum wait in milliseconds, then 503. */
  readonly patienceMs: number;
  readonly onRefused?: () => void;
}

/** Work of no particular company: background parts, and lookups before the company is known. Not limited by `queue`. */
export const NO_COMPANY = '';

/** Time for which a company counts as active after its last call. Milliseconds. */
const ABOUT_MS = 1000;

/** Tells whether several companies are active. The last two are enough to know. */
export class CompaniesAbout {
  #latest = { name: NO_COMPANY, at: -Infinity };
  #before = { name: NO_COMPANY, at: -Infinity };

  seen(name: string): void {
    if (name === NO_COMPANY) return;
    if (name !== this.#latest.name) [this.#latest, this.#before] = [this.#before, this.#latest];
    this.#latest.name = name;
    this.#latest.at = performance.now();
  }

  /** Whether another company was active within the last second. */
  othersThan(name: string): boolean {
    const other = this.#latest.name === name ? this.#before : this.#latest;
    return performance.now() - other.at < ABOUT_MS;
  }
}

interface Waiter {
  admit(): void;
  timer: NodeJS.Timeout | undefined;
}

/** A company that holds or waits for slots; removed when it does neither, so memory is bounded by the calls in flight. */
interface Holder {
  readonly name: string;
  held: number;
  readonly waiting: Waiter[];
}

/**
 * Slots shared by companies: each may hold a limited number, and a slot that becomes free goes to the company whose turn it is, so that one
 * company's queue does not delay another. Within a company it is first come, first served. A waiting call holds no connection or
 * lock, so waiting cannot deadlock.
 */
export class Places {
  readonly #options: PlacesOptions;
  readonly #holders = new Map<string, Holder>();
  /** Companies with waiting calls; the first one below its limit is next. */
  readonly #turns = new Set<Holder>();
  #held = 0;
  #waiting = 0;

  constructor(options: PlacesOptions) {
    this.#options = options;
  }

  get waiting(): number {
    return this.#waiting;
  }

  get held(): number {
    return this.#held;
  }

  heldOf(name: string): number {
    return this.#holders.get(name)?.held ?? 0;
  }

  waitingOf(name: string): number {
    return this.#holders.get(name)?.waiting.length ?? 0;
  }

  /** Takes a slot: at once if it returns undefined, else when the promise resolves. Throws 429 if the queue is full; rejects with 503 after `patienceMs`. */
  enter(name: string): Promise<void> | undefined {
    const { places, queue, patienceMs, about, onRefused } = this.#options;
    about?.seen(name);
    let holder = this.#holders.get(name);
    if (holder === undefined) {
      holder = { name, held: 0, waiting: [] };
      this.#holders.set(name, holder);
    }
    // While a slot is free, no call of a company below its limit waits, unless a limit has just grown.
    if (this.#held < places && holder.held < this.#shareOf(name) && holder.waiting.length === 0) {
      this.#held += 1;
      holder.held += 1;
      return undefined;
    }
    if (name !== NO_COMPANY && holder.waiting.length >= queue) {
      onRefused?.();
      throw new ApiError('RATE_LIMITED', 'Too much of this company is under way at once. Send it again after the time in Retry-After.', {
        retryAfterSeconds: 1,
      });
    }
    const turn = this.#wait(holder, patienceMs);
    this.fill();
    return turn;
  }

  leave(name: string): void {
    const holder = this.#holders.get(name) as Holder;
    holder.held -= 1;
    this.#held -= 1;
    this.fill();
    this.#forget(holder);
  }

  /** Grants free slots in turn. Several may be free when limits have grown because other companies became inactive. */
  fill(): void {
    for (const next of this.#turns) {
      if (this.#held >= this.#options.places) break;
      if (next.held < this.#shareOf(next.name)) this.#admit(next);
    }
  }

  #shareOf(name: string): number {
    const { places, share, shareBeside = share, shareOf, about } = this.#options;
    if (name === NO_COMPANY) return places;
    if (shareOf !== undefined) return shareOf(name);
    return about?.othersThan(name) ? shareBeside : share;
  }

  #wait(holder: Holder, patienceMs: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        admit: resolve,
        timer: setTimeout(() => {
          holder.waiting.splice(holder.waiting.indexOf(waiter), 1);
          this.#waiting -= 1;
          if (holder.waiting.length === 0) this.#turns.delete(holder);
          this.#forget(holder);
          reject(ApiError.unavailable(new Error('no place became free in time'), 1));
        }, patienceMs),
      };
      holder.waiting.push(waiter);
      this.#waiting += 1;
      this.#turns.add(holder);
    });
  }

  #admit(holder: Holder): void {
    const waiter = holder.waiting.shift() as Waiter;
    clearTimeout(waiter.timer);
    this.#waiting -= 1;
    this.#held += 1;
    holder.held += 1;
    this.#turns.delete(holder);
    if (holder.waiting.length > 0) this.#turns.add(holder);
    waiter.admit();
  }

  #forget(holder: Holder): void {
    if (holder.held === 0 && holder.waiting.length === 0) this.#holders.delete(holder.name);
  }
}
