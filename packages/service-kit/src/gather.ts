import { setTimeout as delay } from 'node:timers/promises';
import { currentRequest, onBehalfOf, type RequestContext } from './request-context.ts';

/** Sums of fractions are not exact. */
const ROUNDING = 1e-9;

interface Waiting<T, R> {
  readonly item: T;
  readonly request: RequestContext | undefined;
  resolve(result: R): void;
  reject(error: unknown): void;
}

/** How long a call that would carry little waits for more to come. */
export interface Patience {
  readonly ms: number;
  /** So much of what a call can carry is not little. */
  readonly enough: number;
}

/**
 * Makes one call at a time for all items that have come meanwhile, in the order in which they came: nothing waits longer
 * than for the call before it, unless `patience` is given, and the more there is to do, the less each costs. `loadOf` is an item's share of what a
 * call can carry; one that carries a single item is made on behalf of that item's request, any other of none. `work` resolves to a result for each item; where it rejects, all of them do.
 */
export function gather<T, R>(loadOf: (item: T) => number, work: (items: readonly T[]) => Promise<readonly R[]>, patience?: Patience): (item: T) => Promise<R> {
  const waiting: Waiting<T, R>[] = [];
  let working = false;

  async function run(): Promise<void> {
    working = true;
    // What comes in this turn of the event loop goes together: what one read of a socket brought, for example.
    await new Promise((resolve) => setImmediate(resolve));
    while (waiting.length > 0) {
      if (patience !== undefined && isLittle(patience)) await delay(patience.ms);
      const batch = waiting.splice(0, fitting());
      try {
        const [only] = batch.length === 1 ? batch : [];
        const results = await onBehalfOf(only?.request, () => work(batch.map(({ item }) => item)));
        batch.forEach(({ resolve }, index) => resolve(results[index] as R));
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    working = false;
  }

  function isLittle({ enough }: Patience): boolean {
    let load = 0;
    return !waiting.some(({ item }) => (load += loadOf(item)) >= enough - ROUNDING);
  }

  /** At least one. */
  function fitting(): number {
    let load = 0;
    const count = waiting.findIndex(({ item }) => (load += loadOf(item)) > 1 + ROUNDING);
    return count < 0 ? waiting.length : Math.max(1, count);
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, request: currentRequest(), resolve, reject });
      if (!working) void onBehalfOf(undefined, run);
    });
}
