// How many calls of one kind are under way at once. Beyond what a service works on in parallel, more of them make each slower
// and none more: then the limit falls, and it rises again while callers wait and answers are as quick as they can be.

/** Before anything is known: more than one gateway's callers usually have under way. */
export const INITIAL = 64;
/** Enough for the processors that a call visits to be busy all the time. */
export const LEAST = 16;
export const MOST = 512;
/** Answers that a judgement is made on. */
const WINDOW = 50;
/** Answers are slow that take so many times as long as they did at best. */
const TOLERANCE = 2;
const SHRINK = 0.9;
/** By how much the best is forgotten with each window: what is asked for changes. */
const FORGETTING = 1.01;
/** Whoever waits is to begin within this time: so long may the queue of a company be. Milliseconds. */
const QUEUE_MS = 100;
const LONGEST_QUEUE = 100;
/** A client that sends so many at once is served, however slow answers are. */
const SHORTEST_QUEUE = 64;

export class AdaptiveLimit {
  #limit = INITIAL;
  #best = Infinity;
  #sum = 0;
  #count = 0;
  #bound = false;
  #queue = LONGEST_QUEUE;

  get limit(): number {
    return this.#limit;
  }

  /** Calls of one company that may wait. */
  get queue(): number {
    return this.#queue;
  }

  /** Somebody waited: the limit is what holds calls back. */
  waited(): void {
    this.#bound = true;
  }

  /** A call that was let in has ended, so many milliseconds afterwards. */
  ended(milliseconds: number): void {
    this.#sum += milliseconds;
    this.#count += 1;
    if (this.#count === WINDOW) this.#judge(this.#sum / WINDOW);
  }

  #judge(mean: number): void {
    const slow = mean > TOLERANCE * this.#best;
    this.#best = Math.min(this.#best * FORGETTING, mean);
    // Where nobody waited, slow answers have another reason than too many calls.
    if (!this.#bound) this.#limit += Math.sign(INITIAL - this.#limit);
    else if (slow) this.#limit = Math.max(LEAST, Math.floor(this.#limit * SHRINK));
    else this.#limit = Math.min(MOST, this.#limit + 1);
    this.#queue = Math.min(LONGEST_QUEUE, Math.max(SHORTEST_QUEUE, Math.round((this.#limit * QUEUE_MS) / mean)));
    this.#sum = 0;
    this.#count = 0;
    this.#bound = false;
  }
}
