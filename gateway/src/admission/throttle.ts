// A company that asks for most makes room for others: while their answers are slower than they can be, fewer of its calls are
// under way at once, of all kinds together (docs/adr/0011).
import { Places } from '@truckroll/service-kit';
import { Demand } from './demand.ts';

const MOST = 512;
/** Calls that follow each other keep the processors that they visit busy: with pauses between them most of what could be answered would be refused. */
const LEAST = 1;
/** How long ago an answer to another company counts. Milliseconds. */
const ABOUT_MS = 1000;
/** Answers to others that a judgement is made on. */
const WINDOW = 10;
/** Answers that take so many times as long as at best have waited for other calls. */
const TOLERANCE = 1.5;
const SHRINK = 0.7;
const GROW = 1.05;
/** As many as a client sends at once wait for their turn. */
const QUEUE = 64;
/** A wait that is longer than a queue explains. Milliseconds. */
export const PATIENCE_MS = 5000;
/** A call that takes longer waits for something else than processors, and is no reason for others of its company to wait. Milliseconds. */
const STALLED_MS = 250;

export class Throttle {
  readonly #demand = new Demand();
  readonly #places = new Places({
    places: Infinity,
    share: Infinity,
    shareOf: (companyId) => this.#shareOf(companyId),
    queue: Infinity,
    patienceMs: PATIENCE_MS,
  });
  #limit = MOST;
  #slowness = { sum: 0, count: 0 };
  /** The same of those that are held back, once they have begun. */
  #own = { sum: 0, count: 0 };
  /** Somebody waited: the limit is what holds calls back. */
  #bound = false;
  #othersAt = -Infinity;
  #begun = 0;
  #stalled = 0;
  #watching = false;

  /** Calls at once. */
  get limit(): number {
    return Math.floor(this.#limit);
  }

  get waiting(): number {
    return this.#places.waiting;
  }

  /** A request came whose answer takes so many milliseconds at best. */
  asked(companyId: string, milliseconds: number): void {
    this.#demand.note(companyId, milliseconds);
  }

  /** Whether nobody asks for much more. */
  isLarge(companyId: string): boolean {
    return this.#demand.isLarge(companyId);
  }

  /** Whether a call of the company is held back here, should it be one too many. */
  limits(companyId: string): boolean {
    return performance.now() - this.#othersAt < ABOUT_MS && this.isLarge(companyId);
  }

  full(companyId: string): boolean {
    return this.#places.waiting > 0 && this.#places.waitingOf(companyId) >= QUEUE;
  }

  /** A call waits, here or before. */
  waited(): void {
    this.#bound = true;
  }

  /** As Places.enter; `leave` must follow. */
  enter(companyId: string): Promise<void> | undefined {
    const turn = this.#places.enter(companyId);
    if (turn === undefined) return undefined;
    this.waited();
    this.#watch();
    return turn.then(() => void (this.#begun += 1));
  }

  /** After a call of so many milliseconds. */
  leave(companyId: string, milliseconds: number): void {
    if (milliseconds >= STALLED_MS && this.#stalled > 0) this.#stalled -= 1;
    this.#places.leave(companyId);
  }

  /** A company that asks for most got an answer; how many times as long as at best these take. */
  answeredMost(slowness: number): void {
    this.#own.sum += slowness;
    this.#own.count += 1;
  }

  /** A company that asks for little got an answer; how many times as long as at best these take. */
  answeredOthers(slowness: number): void {
    this.#othersAt = performance.now();
    this.#slowness.sum += slowness;
    this.#slowness.count += 1;
    if (this.#slowness.count < WINDOW) return;
    const mean = this.#slowness.sum / WINDOW;
    // Calls that do not slow each other down have processors enough: fewer of them would give others nothing.
    const crowded = this.#own.count === 0 || this.#own.sum / this.#own.count > TOLERANCE;
    // Where nobody waits, others are slow for another reason than too many calls.
    if (mean > TOLERANCE && crowded && this.#bound) this.#limit = Math.max(LEAST, Math.min(this.#limit, this.#places.held) * SHRINK);
    else this.#limit = Math.min(MOST, this.#limit * GROW);
    this.#slowness = { sum: 0, count: 0 };
    this.#own = { sum: 0, count: 0 };
    this.#bound = false;
  }

  #shareOf(companyId: string): number {
    return this.limits(companyId) ? this.limit + this.#stalled : Infinity;
  }

  /** While somebody waits: finds out that none has begun for long, and lets in what others' absence allows. */
  #watch(): void {
    if (this.#watching) return;
    this.#watching = true;
    const before = this.#begun;
    setTimeout(() => {
      this.#watching = false;
      if (this.#places.waiting === 0) {
        this.#stalled = 0;
        return;
      }
      if (this.#begun === before) this.#stalled += 1;
      this.#places.fill();
      this.#watch();
    }, STALLED_MS).unref();
  }
}
