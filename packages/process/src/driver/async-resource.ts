// Fault: AsyncResource.bind of Node 24, which every HTTP/2 request uses, adds accessors with a deprecation warning to the function it
// returns. V8 creates a hidden class in the old generation for each, which retains the function and the request until the next full
// collection.
// Upstream: nodejs/node#46432 added the accessors, nodejs/node#58618 (pull request, open) removes them.
// Ends: with the version of Node that includes #58618.
import { AsyncResource } from 'node:async_hooks';

/**
 * Replaces AsyncResource.bind by one without accessors. Call it once, when a process starts. Of an HTTP/2 client's allocations that outlive
 * their request, a third do so for this reason, and are copied twice.
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
