/** Of what was seen before, in the number of deliveries that an event has; the rest is what was seen last. */
const REMEMBERED = 0.7;
/** An event that nobody subscribes to has none; so many of those at most are taken to need no room for any. */
const LEAST_PER_EVENT = 0.02;

/**
 * How many of the events that wait to store at once: as many as can be sent at once, for what is stored as due instead has to be looked
 * for and lent later, at twice the cost. Where there is no room for long, all of them.
 */
export class Pace {
  readonly #spare: (wanted: number) => Promise<number>;
  #perEvent = 1;

  /** `spare` resolves to how many deliveries may be sent, once those are enough for so many; to 0 where that takes too long. */
  constructor(spare: (wanted: number) => Promise<number>) {
    this.#spare = spare;
  }

  /** Of so many, at least one; at least one must wait. */
  async next(waiting: number): Promise<number> {
    const room = await this.#spare(Math.ceil(waiting * this.#perEvent));
    return room === 0 ? waiting : Math.min(waiting, Math.max(1, Math.floor(room / this.#perEvent)));
  }

  /** So many deliveries came of so many events. */
  stored(events: number, deliveries: number): void {
    this.#perEvent = Math.max(LEAST_PER_EVENT, REMEMBERED * this.#perEvent + (1 - REMEMBERED) * (deliveries / events));
  }
}
