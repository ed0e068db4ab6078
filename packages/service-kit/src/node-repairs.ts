import { AsyncResource } from 'node:async_hooks';

/**
 * Mends what Node 24 gets wrong and its interface gives no way around. Called once, when a process starts.
 *
 * A function that an AsyncResource binds, as every HTTP/2 request has one, gets accessors that warn of their deprecation. For each of these V8 makes a
 * hidden class in the old generation, which keeps the function and all that it leads to, the request with all that it caused, until the whole
 * heap is collected: of what a client of HTTP/2 allocates, a third of what outlives its request does so for that reason, and is copied twice meanwhile.
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
