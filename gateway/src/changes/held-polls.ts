// Polls of the change feed that wait for the next change. They hold neither a call nor a connection: for all of them together, one call
// after another asks each service which companies have changed.
import { setTimeout as delay } from 'node:timers/promises';
import type { Owner } from '@truckroll/contract';
import type { AwaitedChange } from '@truckroll/contract/gen/records/v1/changes';

/** Held polls of one company in this gateway; further polls do not wait (decisions §14, rule 8). */
const MOST_OF_COMPANY = 20;
/** Pause after a failed call, in ms. */
const AGAIN_MS = 1000;

export interface Awaited {
  readonly owner: Owner;
  readonly kinds: readonly string[];
  readonly version: number;
}

interface Poll {
  readonly companyId: string;
  readonly awaited: readonly Awaited[];
  readonly wake: () => void;
}

export class HeldPolls {
  readonly #find: (owner: Owner, awaited: AwaitedChange[]) => Promise<readonly number[]>;
  readonly #polls = new Set<Poll>();
  readonly #ofCompany = new Map<string, number>();
  readonly #watched = new Set<Owner>();
  #released = false;

  /** `find` asks a service, and resolves to the positions of those that have changed. */
  constructor(find: (owner: Owner, awaited: AwaitedChange[]) => Promise<readonly number[]>) {
    this.#find = find;
  }

  /** Resolves at a change, after `ms`, or when aborted. Undefined if the poll must not wait. */
  hold(companyId: string, awaited: readonly Awaited[], ms: number, signal: AbortSignal): Promise<void> | undefined {
    const others = this.#ofCompany.get(companyId) ?? 0;
    if (this.#released || ms <= 0 || others >= MOST_OF_COMPANY) return undefined;
    this.#ofCompany.set(companyId, others + 1);
    return new Promise((resolve) => {
      const end = (): void => {
        if (!this.#polls.delete(poll)) return;
        clearTimeout(timer);
        signal.removeEventListener('abort', end);
        const left = (this.#ofCompany.get(companyId) as number) - 1;
        if (left === 0) this.#ofCompany.delete(companyId);
        else this.#ofCompany.set(companyId, left);
        resolve();
      };
      const poll = { companyId, awaited, wake: end };
      const timer = setTimeout(end, ms);
      signal.addEventListener('abort', end);
      this.#polls.add(poll);
      for (const { owner } of awaited) void this.#watch(owner);
    });
  }

  /** Ends all polls, and holds none from then on: the gateway stops. */
  release(): void {
    this.#released = true;
    for (const { wake } of this.#polls) wake();
  }

  /** Never rejects. */
  async #watch(owner: Owner): Promise<void> {
    if (this.#watched.has(owner)) return;
    this.#watched.add(owner);
    for (;;) {
      const waiting = [...this.#polls].flatMap((poll) => poll.awaited.flatMap((awaited) => (awaited.owner === owner ? [{ poll, awaited }] : [])));
      if (waiting.length === 0) break;
      try {
        const changed = await this.#find(
          owner,
          waiting.map(({ poll, awaited: { kinds, version } }) => ({ company_id: poll.companyId, kinds: [...kinds], version })),
        );
        for (const place of changed) waiting[place]?.poll.wake();
      } catch {
        // The polls end by themselves, and their next read says what is wrong.
        await delay(AGAIN_MS, undefined, { ref: false });
      }
    }
    this.#watched.delete(owner);
  }
}
