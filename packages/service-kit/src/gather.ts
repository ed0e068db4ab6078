import { currentRequest, onBehalfOf, type RequestContext } from './request-context.ts';

/** Sums of fractions are not exact. */
const ROUNDING = 1e-9;

interface Waiting<T, R> {
  readonly item: T;
  readonly request: RequestContext | undefined;
  resolve(result: R): void;
  reject(error: unknown): void;
}

/**
 * Makes one call at a time for all items that have come meanwhile, in the order in which they came: nothing waits longer
 * than for the call before it, and the more there is to do, the less each costs. `loadOf` is an item's share of what a
 * call can carry; one that carries a single item is made on behalf of that item's request, any other of none. `work` resolves to a result for each item; where it rejects, all of them do.
 */
export function gather<T, R>(loadOf: (item: T) => number, work: (items: readonly T[]) => Promise<readonly R[]>): (item: T) => Promise<R> {
  const waiting: Waiting<T, R>[] = [];
  let working = false;

  async function run(): Promise<void> {
    working = true;
    // What comes in this turn of the event loop goes together.
    await Promise.resolve();
    while (waiting.length > 0) {
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
