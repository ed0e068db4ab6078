// Limits the concurrent calls of one kind to what the service can work on in parallel; more calls only make each other slower. The limit
// falls when answers slow down, and rises while callers wait and answers are fast.

/** Initial limit, until latencies are known. Above what one gateway's callers usually need. */
export const INITIAL = 64;
/** Minimum limit: enough to keep every processor on a call's path busy. */
export const LEAST = 16;
export const MOST = 512;
/** Answers averaged before the limit is adjusted. */
const WINDOW = 50;
/** Ratio of mean latency to unloaded latency above which answers count as slow. */
const TOLERANCE = 2;
const SHRINK = 0.9;
/** Factor by which the unloaded latency rises per window, so that it follows a changing mix of requests. */
const FORGETTING = 1.01;
/** Longest time that a queued call should wait, in ms. It sets the length of a company's queue. */
const QUEUE_MS = 100;
const LONGEST_QUEUE = 100;
/** Minimum queue length: a client may send this many requests at once, however slow answers are. */
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

  /** Notes that a call had to wait, so the limit is what holds calls back. */
  waited(): void {
    this.#bound = true;
  }

  /** Notes the latency in ms of a call that was let in. */
  ended(milliseconds: number): void {
    this.#sum += milliseconds;
    this.#count += 1;
    if (this.#count === WINDOW) this.#judge(this.#sum / WINDOW);
  }

  #judge(mean: number): void {
    const slow = mean > TOLERANCE * this.#best;
    this.#best = Math.min(this.#best * FORGETTING, mean);
    // If no call waited, the number of calls is not why answers are slow: drift back to the initial limit.
    if (!this.#bound) this.#limit += Math.sign(INITIAL - this.#limit);
    else if (slow) this.#limit = Math.max(LEAST, Math.floor(this.#limit * SHRINK));
    else this.#limit = Math.min(MOST, this.#limit + 1);
    this.#queue = Math.min(LONGEST_QUEUE, Math.max(SHORTEST_QUEUE, Math.round((this.#limit * QUEUE_MS) / mean)));
    this.#sum = 0;
    this.#count = 0;
    this.#bound = false;
  }
}
