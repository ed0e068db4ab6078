// Request limits per key and minute (decisions §3), counted in Redis by all gateways together; without Redis every
// gateway counts for itself, and requests go on.
import { createHash } from 'node:crypto';
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import type { Principal } from '@truckroll/contract/gen/integrations/v1/identity';
import type { LimitState } from '../http/exchange.ts';
import type { RedisLink } from './redis-link.ts';

const WINDOW_SECONDS = 60;

/** Classes of requests, each with a limit of its own. */
export type LimitClass = 'reads' | 'reports' | 'writes';

/** Names of the policies in the RateLimit headers. */
const POLICIES: Readonly<Record<LimitClass, string>> = { reads: 'default', reports: 'reports', writes: 'writes' };

export interface Limits {
  /** Counts one request; `exceeded` where it is one too many. Never rejects. */
  consume(principal: Principal, limitClass: LimitClass): Promise<LimitState & { exceeded: boolean }>;
}

export interface LimitsOptions {
  redis: RedisLink;
  perMinute: Readonly<Record<LimitClass, number>>;
}

export function createLimits({ redis, perMinute }: LimitsOptions): Limits {
  const storeClient = scripts(redis);
  /** By class and quota: an operator can give a key limits of its own. */
  const limiters = new Map<string, RateLimiterRedis>();

  function limiter(limitClass: LimitClass, points: number): RateLimiterRedis {
    const name = `${limitClass} ${points}`;
    let found = limiters.get(name);
    if (found === undefined) {
      const common = { keyPrefix: `truckroll:limit:${limitClass}`, points, duration: WINDOW_SECONDS };
      found = new RateLimiterRedis({
        ...common,
        storeClient,
        useRedisPackage: true,
        rejectIfRedisNotReady: true,
        // A caller over its limit is refused from memory until its window ends.
        inMemoryBlockOnConsumed: points + 1,
        insuranceLimiter: new RateLimiterMemory(common),
      });
      limiters.set(name, found);
    }
    return found;
  }

  return {
    async consume(principal, limitClass) {
      const quota = principal.limits?.[limitClass] ?? perMinute[limitClass];
      let result: RateLimiterRes;
      let exceeded = false;
      try {
        result = await limiter(limitClass, quota).consume(principal.key_id ?? principal.user_id);
      } catch (error) {
        // The limiter rejects with the state of a caller who is over the limit.
        if (!(error instanceof RateLimiterRes)) throw error;
        result = error;
        exceeded = true;
      }
      const resetSeconds = Math.min(WINDOW_SECONDS, Math.max(1, Math.ceil(result.msBeforeNext / 1000)));
      const remaining = exceeded ? 0 : Math.max(0, result.remainingPoints);
      return { policy: POLICIES[limitClass], quota, remaining, resetSeconds, exceeded };
    },
  };
}

/** The part of a Redis client that the limiter uses. Scripts go by their hash, which saves sending them every time. */
function scripts(redis: RedisLink) {
  const hashes = new Map<string, string>();
  return {
    get isReady(): boolean {
      return redis.ready;
    },
    eval(script: string, options: { keys: string[]; arguments: string[] }): Promise<unknown> {
      let hash = hashes.get(script);
      if (hash === undefined) hashes.set(script, (hash = createHash('sha1').update(script).digest('hex')));
      return redis.run(async (client) => {
        try {
          return await client.evalSha(hash, options);
        } catch (error) {
          if (!String(error).includes('NOSCRIPT')) throw error;
          return client.eval(script, options);
        }
      });
    },
  };
}
