import { Slots } from './slots.ts';

/** No connection to the address became free in time. Nothing was sent to the receiver. */
export class NoConnection extends Error {
  override readonly name = 'NoConnection';
}

/** Maximum wait for a connection, in ms: a lease of 40 s covers 20 s in the worker, this wait, and an exchange of 15 s. */
const MOST_WAIT_MS = 5000;

interface Destination {
  readonly slots: Slots;
  /** Oldest first. */
  readonly waiting: Set<{ readonly companyId: string; readonly admit: () => void }>;
}

/** Limits connections to each address, idle ones included, across all endpoints. Companies share them as Slots says. */
export class Destinations {
  readonly #most: number;
  readonly #closeIdle: (address: string, companyId: string) => void;
  readonly #destinations = new Map<string, Destination>();

  /** `closeIdle` closes one idle connection of the company to the address, if it has any. */
  constructor(most: number, closeIdle: (address: string, companyId: string) => void) {
    this.#most = most;
    this.#closeIdle = closeIdle;
  }

  /** Resolves to the function to call once the connection is closed. Rejects with NoConnection. */
  enter(address: string, companyId: string): Promise<() => void> {
    const destination = this.#of(address);
    const { slots, waiting } = destination;
    const take = () => {
      slots.take(companyId);
      return () => this.#leave(address, destination, companyId);
    };
    if (slots.freeFor(companyId) > 0) return Promise.resolve(take());
    return new Promise((resolve, reject) => {
      const waiter = { companyId, admit: () => (clearTimeout(timer), waiting.delete(waiter), resolve(take())) };
      const timer = setTimeout(() => {
        waiting.delete(waiter);
        reject(new NoConnection(`no connection to ${address} was free for ${MOST_WAIT_MS / 1000} s`));
      }, MOST_WAIT_MS);
      waiting.add(waiter);
      this.#closeIdle(address, companyId);
    });
  }

  /** Whether an exchange waits for a connection to the address or more than half of them are taken: no connection should stay idle. */
  isCrowded(address: string): boolean {
    const { slots, waiting } = this.#destinations.get(address) ?? {};
    return (waiting?.size ?? 0) > 0 || 2 * (slots?.total ?? 0) > this.#most;
  }

  #of(address: string): Destination {
    let found = this.#destinations.get(address);
    if (found === undefined) this.#destinations.set(address, (found = { slots: new Slots(this.#most), waiting: new Set() }));
    return found;
  }

  #leave(address: string, { slots, waiting }: Destination, companyId: string): void {
    slots.leave(companyId);
    for (const { companyId: next, admit } of waiting) if (slots.freeFor(next) > 0) admit();
    if (slots.total === 0) this.#destinations.delete(address);
  }
}
