// Fault: where its limit is below 1 GB, V8 grows the old generation by only a third at a time; full collections of a small heap then follow
// each other directly.
// Upstream: no upstream issue known.
// Ends: when V8 offers a growth per process as an option of Node, or grows small heaps in larger steps.
import { getHeapStatistics, setFlagsFromString } from 'node:v8';

/** Heap limit, in bytes, below which V8 grows the old generation by only a third at a time; without a limit by up to three times. */
const SMALL = 2 ** 30;
/** Growth allowed after a collection, in percent of the heap it left, for components that serve requests. */
const GROWTH = 100;

/**
 * Call it when a process starts. V8 starts a full collection when the old generation has less room left than the young generation's size.
 * A third of a component's 35 MB is less than that from the start, so collections followed one another directly, several a minute under
 * load, each with a pause of 15 ms (docs/adr/0011). Doubling 35 MB stays far below the heap limit, which V8 never exceeds.
 *
 * For components that serve requests. In one with little work larger steps take so long that they look like a leak: give it a smaller percentage.
 */
export function growHeapInLargerSteps(percent: number = GROWTH): void {
  if (getHeapStatistics().heap_size_limit < SMALL) setFlagsFromString(`--heap-growing-percent=${percent}`);
}
