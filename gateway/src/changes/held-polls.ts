// Polls of the change feed that wait for the next change. They hold neither a call nor a connection: for all of them together, one call
// after another asks each service which companies have changed.
import { setTimeout as delay } from 'node:timers/promises';
import type { Owner } from '@truckroll/contract';
import type { AwaitedChange, FoundChange } from '@truckroll/contract/gen/records/v1/changes';
import type { PollSlots } from './poll-slots.ts';

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

interface Group {
  readonly awaited: AwaitedChange;
  readonly polls: { readonly version: number; readonly wake: () => void }[];
}

export class HeldPolls {
  readonly #find: (owner: Owner, awaited: AwaitedChange[]) => Promise<readonly FoundChange[]>;
  readonly #slots: PollSlots;
  readonly #polls = new Set<Poll>();
  readonly #watched = new Set<Owner>();
  #released = false;

  /** `find` asks a service, and resolves to those that have changed. */
  constructor(find: (owner: Owner, awaited: AwaitedChange[]) => Promise<readonly FoundChange[]>, slots: PollSlots) {
    this.#find = find;
    this.#slots = slots;
  }

  /** Resolves once the poll is held, or to undefined if it must not wait. `over` resolves at a change, after `ms`, or when aborted. */
  async hold(companyId: string, awaited: readonly Awaited[], ms: number, signal: AbortSignal): Promise<{ over: Promise<void> } | undefined> {
    if (this.#released || ms <= 0) return undefined;
    const free = await this.#slots.take(companyId, ms);
    if (free === undefined) return undefined;
    const { promise: over, resolve } = Promise.withResolvers<void>();
    const end = (): void => {
      if (!this.#polls.delete(poll)) return;
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      free();
      resolve();
    };
    const poll = { companyId, awaited, wake: end };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end);
    this.#polls.add(poll);
    // The gateway stops, or the client has left, since the slot was requested.
    if (this.#released || signal.aborted) end();
    else for (const { owner } of awaited) void this.#watch(owner);
    return { over };
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
      const groups = this.#waitingFor(owner);
      if (groups.length === 0) break;
      try {
        const changed = await this.#find(
          owner,
          groups.map(({ awaited }) => awaited),
        );
        for (const { place, version } of changed) {
          for (const poll of groups[place]?.polls ?? []) if (poll.version <= version) poll.wake();
        }
      } catch {
        // The polls end by themselves, and their next read says what is wrong.
        await delay(AGAIN_MS, undefined, { ref: false });
      }
    }
    this.#watched.delete(owner);
  }

  /** A company's polls for the same kinds, whose cursors differ, ask together from the lowest version. */
  #waitingFor(owner: Owner): Group[] {
    const groups = new Map<string, Group>();
    for (const { companyId, awaited, wake } of this.#polls) {
      for (const { kinds, version } of awaited.filter((each) => each.owner === owner)) {
        const key = [companyId, ...kinds].join(' ');
        const group = groups.get(key) ?? { awaited: { company_id: companyId, kinds: [...kinds], version }, polls: [] };
        group.awaited.version = Math.min(group.awaited.version, version);
        group.polls.push({ version, wake });
        groups.set(key, group);
      }
    }
    return [...groups.values()];
  }
}
