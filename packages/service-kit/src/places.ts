import { ApiError } from '@truckroll/contract';

export interface PlacesOptions {
  /** Held at once by all companies together. */
  readonly places: number;
  /** Held at once by one company. */
  readonly share: number;
  /** The same while another company is about: see CompaniesAbout. By default as much. */
  readonly shareBeside?: number;
  /** In place of both where it depends on who asks. It may grow at any time: `fill` follows then. */
  readonly shareOf?: (name: string) => number;
  /** Who is about; several Places may have one. */
  readonly about?: CompaniesAbout;
  /** Waiting at once for one company; one more is refused with 429. */
  readonly queue: number;
  /** How long anybody waits: 503 after that. Milliseconds. */
  readonly patienceMs: number;
  /** Told of every refusal because of a full queue. */
  readonly onRefused?: () => void;
}

/** Work of no company in particular: background parts, and look-ups before the company is known. Never refused by number. */
export const NO_COMPANY = '';

/** How long a company that asked for something is about. Milliseconds. */
const ABOUT_MS = 1000;

/** Whether more than one company asks for something at the time: the two that asked last tell. */
export class CompaniesAbout {
  #latest = { name: NO_COMPANY, at: -Infinity };
  #before = { name: NO_COMPANY, at: -Infinity };

  seen(name: string): void {
    if (name === NO_COMPANY) return;
    if (name !== this.#latest.name) [this.#latest, this.#before] = [this.#before, this.#latest];
    this.#latest.name = name;
    this.#latest.at = performance.now();
  }

  /** Within the last second. */
  othersThan(name: string): boolean {
    const other = this.#latest.name === name ? this.#before : this.#latest;
    return performance.now() - other.at < ABOUT_MS;
  }
}

interface Waiter {
  admit(): void;
  timer: NodeJS.Timeout | undefined;
}

/** One that holds or waits; forgotten when it does neither, so that this is as large as what is under way. */
interface Holder {
  readonly name: string;
  held: number;
  readonly waiting: Waiter[];
}

/**
 * Places that companies share: at most so many for one, and a place that becomes free goes to the company whose turn it
 * is, so that the queue of one is no other's wait. Within a company it is first come, first served. Who waits holds
 * nothing, neither a connection nor a lock: a holder never waits for a waiter, and nobody waits in a circle.
 */
export class Places {
  readonly #options: PlacesOptions;
  readonly #holders = new Map<string, Holder>();
  /** Those with somebody waiting; the first that may hold one more is next. */
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

  /** Of one company. */
  heldOf(name: string): number {
    return this.#holders.get(name)?.held ?? 0;
  }

  /** Of one company. */
  waitingOf(name: string): number {
    return this.#holders.get(name)?.waiting.length ?? 0;
  }

  /**
   * Takes a place for a company: at once where this returns undefined, else when the promise resolves. Throws ApiError
   * 429 where too many of the company's wait; rejects with 503 after too long. `leave` gives it back, by the same name.
   */
  enter(name: string): Promise<void> | undefined {
    const { places, queue, patienceMs, about, onRefused } = this.#options;
    about?.seen(name);
    let holder = this.#holders.get(name);
    if (holder === undefined) {
      holder = { name, held: 0, waiting: [] };
      this.#holders.set(name, holder);
    }
    // A place is free only while nobody who may have it waits, but that shares grow by themselves.
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

  /** Gives free places to those whose turn it is: several where a company's share has grown, for the others are gone. */
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
    // To the end of the turns, or out of them.
    this.#turns.delete(holder);
    if (holder.waiting.length > 0) this.#turns.add(holder);
    waiter.admit();
  }

  #forget(holder: Holder): void {
    if (holder.held === 0 && holder.waiting.length === 0) this.#holders.delete(holder.name);
  }
}
