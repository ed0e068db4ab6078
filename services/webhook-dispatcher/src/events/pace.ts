/** Weight of earlier batches in the moving average of deliveries per event. */
const REMEMBERED = 0.7;
/** Lower bound of that average. Events without subscribers have no deliveries, so the average would approach 0. */
const LEAST_PER_EVENT = 0.02;

/**
 * Decides how many queued events to store in one batch: as many as the worker can send immediately, because leasing a stored delivery
 * later costs twice as much. All of them if no slots are free for too long.
 */
export class Pace {
  readonly #spare: (wanted: number) => Promise<number>;
  #perEvent = 1;

  /** `spare` resolves to the number of free slots once there are enough for `wanted` deliveries, or to 0 if that takes too long. */
  constructor(spare: (wanted: number) => Promise<number>) {
    this.#spare = spare;
  }

  /** Number of events to store next. `waiting` must be at least 1, and so is the result. */
  async next(waiting: number): Promise<number> {
    const room = await this.#spare(Math.ceil(waiting * this.#perEvent));
    return room === 0 ? waiting : Math.min(waiting, Math.max(1, Math.floor(room / this.#perEvent)));
  }

  stored(events: number, deliveries: number): void {
    this.#perEvent = Math.max(LEAST_PER_EVENT, REMEMBERED * this.#perEvent + (1 - REMEMBERED) * (deliveries / events));
  }
}
