// Polls of the change feed that wait for the next change. They share calls, which ask a service one after another which companies have
// changed. A new poll does not wait for the call under way: the service answers all calls at its next look, and from then on they
// are one.
import { setTimeout as delay } from 'node:timers/promises';
import type { Owner } from '@truckroll/contract';
import type { AwaitedChange, FindChangedResponse } from '@truckroll/contract/gen/records/v1/changes';
import { onBehalfOf } from '@truckroll/telemetry';
import type { PollSlots } from './poll-slots.ts';

/** Pause after a failed call, in ms. */
const AGAIN_MS = 1000;

export interface Awaited {
  readonly owner: Owner;
  readonly kinds: readonly string[];
  readonly version: number;
}

/** A service has no changes with versions from `from` to, but not including, `below`. */
export interface Unchanged {
  readonly from: number;
  readonly below: number;
  /** Microseconds. */
  readonly asOf: number;
}

/** By each awaited service. */
export type AllUnchanged = ReadonlyMap<Owner, Unchanged>;

/** A company's polls for the same kinds of one service, which ask together from the lowest version. */
interface Group {
  readonly companyId: string;
  readonly kinds: string[];
  /** Versions that the polls await, by the function that ends the poll. */
  readonly polls: Map<() => void, number>;
  /** Result of the latest call; undefined if it failed. */
  unchanged: Unchanged | undefined;
  /** Whether a call under way asks for it. */
  asked: boolean;
}

export class HeldPolls {
  readonly #find: (owner: Owner, awaited: AwaitedChange[]) => Promise<FindChangedResponse>;
  readonly #slots: PollSlots;
  readonly #polls = new Set<() => void>();
  /** By company and kinds. */
  readonly #groups = new Map<Owner, Map<string, Group>>();
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
    const leave: (() => Unchanged | undefined)[] = [];
    const end = (isTimeOver: boolean): void => {
      if (!this.#polls.delete(wake)) return;
      const unchanged = leave.map((each) => each());
      clearTimeout(timer);
      signal.removeEventListener('abort', wake);
      free();
      resolve(isTimeOver ? ofAll(awaited, unchanged) : undefined);
    };
    const wake = (): void => end(false);
    const timer = setTimeout(end, ms, true);
    signal.addEventListener('abort', wake);
    this.#polls.add(wake);
    // The gateway stops, or the client has left, since the slot was requested.
    if (this.#released || signal.aborted) wake();
    else for (const each of awaited) leave.push(this.#join(companyId, each, wake));
    return { over };
  }

  /** Has the company's polls read again: it may live in another cell. */
  wake(companyId: string): void {
    for (const groups of this.#groups.values()) {
      for (const group of groups.values()) if (group.companyId === companyId) for (const wake of [...group.polls.keys()]) wake();
    }
  }

  /** Ends all polls, and holds none from then on: the gateway stops. */
  release(): void {
    this.#released = true;
    for (const wake of this.#polls) wake();
  }

  /** Returns the function to leave, which says whether calls since then found no changes. */
  #join(companyId: string, { owner, kinds, version }: Awaited, wake: () => void): () => Unchanged | undefined {
    const groups = this.#groups.get(owner) ?? new Map<string, Group>();
    this.#groups.set(owner, groups);
    const key = [companyId, ...kinds].join(' ');
    const group = groups.get(key) ?? { companyId, kinds: [...kinds], polls: new Map(), unchanged: undefined, asked: false };
    groups.set(key, group);
    group.polls.set(wake, version);
    const before = group.unchanged;
    // For all polls of the group, also when this one has ended.
    if (!group.asked) onBehalfOf(undefined, () => void this.#ask(owner, groups, [group]));
    return () => {
      group.polls.delete(wake);
      if (group.polls.size === 0) groups.delete(key);
      const { unchanged } = group;
      return unchanged !== before && unchanged !== undefined && unchanged.from <= version ? unchanged : undefined;
    };
  }

  /** Asks again and again. Calls that are answered in one turn of the event loop become one. Never rejects. */
  async #ask(owner: Owner, groups: ReadonlyMap<string, Group>, asked: readonly Group[]): Promise<void> {
    const awaited = asked.map(({ companyId, kinds, polls }) => ({ company_id: companyId, kinds, version: Math.min(...polls.values()) }));
    for (const group of asked) group.asked = true;
    try {
      note(asked, awaited, await this.#find(owner, awaited));
    } catch {
      // The polls end at their time, and their next read reports the fault.
      for (const group of asked) group.unchanged = undefined;
      await delay(AGAIN_MS, undefined, { ref: false });
    }
    for (const group of asked) group.asked = false;
    setImmediate(() => {
      const waiting = [...groups.values()].filter((group) => !group.asked);
      if (waiting.length > 0) void this.#ask(owner, groups, waiting);
    });
  }
}

/** Undefined unless all services have no changes. */
function ofAll(awaited: readonly Awaited[], unchanged: readonly (Unchanged | undefined)[]): AllUnchanged | undefined {
  const known = awaited.flatMap(({ owner }, index): [Owner, Unchanged][] => (unchanged[index] === undefined ? [] : [[owner, unchanged[index]]]));
  return known.length < awaited.length ? undefined : new Map(known);
}

/** Wakes the polls whose changes were found, and notes for the others that there are none. */
function note(groups: readonly Group[], awaited: readonly AwaitedChange[], { changed, below, belows, as_of: asOf }: FindChangedResponse): void {
  const latest = new Map(changed.map(({ place, version }) => [place, version]));
  groups.forEach((group, index) => {
    const found = latest.get(index);
    if (found !== undefined) for (const [wake, version] of group.polls) if (version <= found) wake();
    const own = below ?? belows[index];
    if (own !== undefined) group.unchanged = { from: found === undefined ? awaited[index]!.version : found + 1, below: own, asOf };
  });
}
