// Polls of the change feed that wait for the next change. They share calls: one after another asks each service which companies have
// changed.
import { setTimeout as delay } from 'node:timers/promises';
import type { Owner } from '@truckroll/contract';
import type { AwaitedChange, FindChangedResponse } from '@truckroll/contract/gen/records/v1/changes';
import type { PollSlots } from './poll-slots.ts';

/** Pause after a failed call, in ms. */
const AGAIN_MS = 1000;

export interface Awaited {
  readonly owner: Owner;
  readonly kinds: readonly string[];
  readonly version: number;
}

/** A service has no changes for a poll. */
export interface Unchanged {
  /** Changes below this version were looked up. */
  readonly below: number;
  /** Microseconds. */
  readonly asOf: number;
}

/** By each awaited service. */
export type AllUnchanged = ReadonlyMap<Owner, Unchanged>;

interface Poll {
  /** Results of the latest calls, except failed ones. */
  readonly unchanged: Map<Owner, Unchanged>;
  readonly wake: () => void;
}

/** The changes of one service for which a poll waits. */
interface Waiting {
  /** The company and the kinds. */
  readonly key: string;
  readonly awaited: AwaitedChange;
  readonly poll: Poll;
}

interface Group {
  readonly awaited: AwaitedChange;
  readonly waiting: Waiting[];
}

export class HeldPolls {
  readonly #find: (owner: Owner, awaited: AwaitedChange[]) => Promise<FindChangedResponse>;
  readonly #slots: PollSlots;
  readonly #polls = new Set<Poll>();
  readonly #waiting = new Map<Owner, Set<Waiting>>();
  readonly #watched = new Set<Owner>();
  #released = false;

  /** `find` asks a service which of the awaited have changed. */
  constructor(find: (owner: Owner, awaited: AwaitedChange[]) => Promise<FindChangedResponse>, slots: PollSlots) {
    this.#find = find;
    this.#slots = slots;
  }

  /**
   * Resolves once the poll is held, or to undefined if it must not wait. `over` resolves at a change, after `ms`, or when aborted: to
   * what all services last said if none has changes, and to undefined if they must be read.
   */
  async hold(
    companyId: string,
    awaited: readonly Awaited[],
    ms: number,
    signal: AbortSignal,
  ): Promise<{ over: Promise<AllUnchanged | undefined> } | undefined> {
    if (this.#released || ms <= 0) return undefined;
    const free = await this.#slots.take(companyId, ms);
    if (free === undefined) return undefined;
    const { promise: over, resolve } = Promise.withResolvers<AllUnchanged | undefined>();
    const end = (isTimeOver: boolean): void => {
      if (!this.#polls.delete(poll)) return;
      for (const [owner, each] of waiting) this.#waiting.get(owner)?.delete(each);
      clearTimeout(timer);
      signal.removeEventListener('abort', wake);
      free();
      resolve(isTimeOver && awaited.every(({ owner }) => poll.unchanged.has(owner)) ? poll.unchanged : undefined);
    };
    const wake = (): void => end(false);
    const poll: Poll = { unchanged: new Map(), wake };
    const waiting = awaited.map(({ owner, kinds, version }): [Owner, Waiting] => {
      return [owner, { key: [companyId, ...kinds].join(' '), awaited: { company_id: companyId, kinds: [...kinds], version }, poll }];
    });
    const timer = setTimeout(end, ms, true);
    signal.addEventListener('abort', wake);
    this.#polls.add(poll);
    // The gateway stops, or the client has left, since the slot was requested.
    if (this.#released || signal.aborted) wake();
    else for (const [owner, each] of waiting) this.#add(owner, each);
    return { over };
  }

  /** Ends all polls, and holds none from then on: the gateway stops. */
  release(): void {
    this.#released = true;
    for (const { wake } of this.#polls) wake();
  }

  #add(owner: Owner, waiting: Waiting): void {
    const all = this.#waiting.get(owner) ?? new Set();
    this.#waiting.set(owner, all.add(waiting));
    void this.#watch(owner);
  }

  /** Never rejects. */
  async #watch(owner: Owner): Promise<void> {
    if (this.#watched.has(owner)) return;
    this.#watched.add(owner);
    for (;;) {
      const groups = this.#waitingFor(owner);
      if (groups.length === 0) break;
      try {
        const response = await this.#find(
          owner,
          groups.map(({ awaited }) => awaited),
        );
        note(owner, groups, response);
      } catch {
        // The polls end at their time, and their next read reports the fault.
        for (const { poll } of groups.flatMap(({ waiting }) => waiting)) poll.unchanged.delete(owner);
        await delay(AGAIN_MS, undefined, { ref: false });
      }
    }
    this.#watched.delete(owner);
  }

  /** A company's polls for the same kinds, whose cursors differ, ask together from the lowest version. */
  #waitingFor(owner: Owner): Group[] {
    const groups = new Map<string, Group>();
    for (const waiting of this.#waiting.get(owner) ?? []) {
      const group = groups.get(waiting.key);
      if (group === undefined) {
        groups.set(waiting.key, { awaited: { ...waiting.awaited }, waiting: [waiting] });
        continue;
      }
      group.awaited.version = Math.min(group.awaited.version, waiting.awaited.version);
      group.waiting.push(waiting);
    }
    return [...groups.values()];
  }
}

/** Wakes the polls whose changes were found, and notes for the others that there are none. */
function note(owner: Owner, groups: readonly Group[], { changed, below, as_of: asOf }: FindChangedResponse): void {
  const latest = new Map(changed.map(({ place, version }) => [place, version]));
  const unchanged = below == null ? undefined : { below, asOf };
  groups.forEach(({ waiting }, place) => {
    for (const { awaited, poll } of waiting) {
      if (awaited.version <= (latest.get(place) ?? -1)) poll.wake();
      else if (unchanged !== undefined) poll.unchanged.set(owner, unchanged);
    }
  });
}
