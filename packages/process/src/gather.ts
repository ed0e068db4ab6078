import { setTimeout as delay } from 'node:timers/promises';
import { currentRequest, onBehalfOf, type RequestContext } from '@truckroll/telemetry';

/** Tolerance for sums of fractions, which are not exact. */
const ROUNDING = 1e-9;

interface Waiting<T, R> {
  readonly item: T;
  readonly request: RequestContext | undefined;
  resolve(result: R): void;
  reject(error: unknown): void;
}

/** Lets a call with little to carry wait `ms` for more items. */
export interface Linger {
  readonly ms: number;
  /** Load, as a fraction of a call's capacity, from which the call does not wait. */
  readonly enough: number;
}

/**
 * Batches items: while one call is in flight, new items queue for the next, in order. An item waits at most for the call in flight, plus
 * `linger` if given; larger batches make each item cheaper.
 *
 * `loadOf` is the fraction of a call's capacity that an item takes. `work` resolves to one result per item; if it rejects, all items of
 * the batch do. A call with a single item runs on behalf of that item's request, a larger one on behalf of none.
 */
export function gather<T, R>(loadOf: (item: T) => number, work: (items: readonly T[]) => Promise<readonly R[]>, linger?: Linger): (item: T) => Promise<R> {
  const waiting: Waiting<T, R>[] = [];
  let working = false;

  async function run(): Promise<void> {
    working = true;
    // Collects what arrives in this turn of the event loop, such as everything from one read of a socket.
    await new Promise((resolve) => setImmediate(resolve));
    while (waiting.length > 0) {
      if (linger !== undefined && isLittle(linger)) await delay(linger.ms);
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

  function isLittle({ enough }: Linger): boolean {
    let load = 0;
    return !waiting.some(({ item }) => (load += loadOf(item)) >= enough - ROUNDING);
  }

  function fitting(): number {
    let load = 0;
    const count = waiting.findIndex(({ item }) => (load += loadOf(item)) > 1 + ROUNDING);
    return count < 0 ? waiting.length : Math.max(1, count);
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, request: currentRequest(), resolve, reject });
      if (!working) void run();
    });
}
