// How far V8 lets the heap grow between two collections of all of it.
import { getHeapStatistics, setFlagsFromString } from 'node:v8';

/** With a bound below it V8 is sparing: the old generation may grow by a third, where without a bound it is by up to three times. Bytes. */
const SMALL = 2 ** 30;
/** Of what the last collection left, in percent: a component that all requests wait for. */
const GROWTH = 100;

/**
 * To be called when a process starts. V8 begins to collect when the old generation has less room left than the young one is large. A third
 * of the 35 MB that a component has is less from the start on: the next collection began as soon as one had ended, several a minute under
 * load, each with a pause of 15 ms (docs/adr/0011). Twice 35 MB is far from the bound, and close to it V8 gives no more than there is.
 *
 * For components that requests wait for. Where little is to do larger steps take long, which looks like a leak: one with less to do than
 * others is given smaller ones, in percent of what the last collection left.
 */
export function growHeapInLargerSteps(percent: number = GROWTH): void {
  if (getHeapStatistics().heap_size_limit < SMALL) setFlagsFromString(`--heap-growing-percent=${percent}`);
}
