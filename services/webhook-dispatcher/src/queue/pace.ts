/** Weight of earlier batches in the moving average of deliveries per event. */
const REMEMBERED = 0.7;
/** Lower bound of that average. Events without subscribers have no deliveries, so the average would approach 0. */
const LEAST_PER_EVENT = 0.02;

/**
 * Estimates how many deliveries events become, so that the worker stores as many events at once as it can send immediately: leasing a
 * stored delivery later costs twice as much.
 */
export class Pace {
  #perEvent = 1;

  deliveriesOf(events: number): number {
    return Math.ceil(events * this.#perEvent);
  }

  /** Number of the events, at least one, whose deliveries fit in the free slots. */
  fitting(events: number, free: number): number {
    return Math.min(events, Math.max(1, Math.floor(free / this.#perEvent)));
  }

  stored(events: number, deliveries: number): void {
    this.#perEvent = Math.max(LEAST_PER_EVENT, REMEMBERED * this.#perEvent + (1 - REMEMBERED) * (deliveries / events));
  }
}
