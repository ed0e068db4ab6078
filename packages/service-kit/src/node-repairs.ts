import { AsyncResource } from 'node:async_hooks';

/**
 * Works around a defect of Node 24 that its API offers no way around. Call it once, when a process starts.
 *
 * AsyncResource.bind, which every HTTP/2 request uses, adds accessors with a deprecation warning to the function it returns. V8 creates a
 * hidden class in the old generation for each of them, which retains the function and everything it references, such as the request, until
 * the next full collection. Of an HTTP/2 client's allocations that outlive their request, a third do so for this reason, and are copied twice.
 */
export function repairNode(): void {
  AsyncResource.prototype.bind = function (this: AsyncResource, work: (...args: unknown[]) => unknown, thisArg?: unknown) {
    const run = this.runInAsyncScope.bind(this, work) as (self: unknown, ...args: unknown[]) => unknown;
    if (thisArg !== undefined) return run.bind(undefined, thisArg);
    return function (this: unknown, ...args: unknown[]) {
      return run(this, ...args);
    };
  } as AsyncResource['bind'];
}
