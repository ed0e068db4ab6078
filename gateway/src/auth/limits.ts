// Request limits per minute (decisions §3, §12), of each key and of its company over all keys and users: counted in Redis
// by all gateways together; without Redis every gateway counts for itself, and requests go on.
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible';
import type { Principal } from '@truckroll/contract/gen/integrations/v1/identity';
import type { CounterMetric, Metrics } from '@truckroll/service-kit';
import type { LimitState } from '../http/exchange.ts';
import type { RedisLink } from './redis-link.ts';

const WINDOW_SECONDS = 60;
/** A company's limit over all its keys and users, in those of one key. */
const COMPANY_FACTOR = 3;
/** Callers over their limit that are remembered: more than are over it in a minute. */
const MOST_BLOCKED = 10_000;

/** Classes of requests, each with a limit of its own. */
export type LimitClass = 'reads' | 'reports' | 'writes';
type Scope = 'key' | 'company';

/** Names of the policies in the RateLimit headers. */
const POLICIES: Readonly<Record<Scope, Readonly<Record<LimitClass, string>>>> = {
  key: { reads: 'default', reports: 'reports', writes: 'writes' },
  company: { reads: 'company', reports: 'company-reports', writes: 'company-writes' },
};

export interface Limits {
  /** Counts one request; the limit that is nearer, and `exceeded` where the request is one too many. Never rejects. */
  consume(principal: Principal, limitClass: LimitClass): Promise<LimitState & { exceeded: boolean }>;
}

export interface LimitsOptions {
  redis: RedisLink;
  perMinute: Readonly<Record<LimitClass, number>>;
  metrics: Metrics;
}

/** Who counts, in which class, and how often they may ask. */
interface Counted {
  scope: Scope;
  /** Of the counter: keys of one company lie in one slot of a Redis cluster. */
  name: string;
  quota: number;
}

interface Count {
  consumed: number;
  /** Milliseconds until the window starts anew. */
  resetMs: number;
}

export function createLimits({ redis, perMinute, metrics }: LimitsOptions): Limits {
  const alone = countAlone();
  const together = countTogether(redis);
  const refused: CounterMetric<'scope'> = metrics.counter('gateway_limited_total', 'Requests refused as over a limit', ['scope']);
  /** When the windows of those end that are over their limit: until then they are refused from memory and cost nobody anything. */
  const blocked = new LRUCache<string, number>({ max: MOST_BLOCKED });

  function standing(limitClass: LimitClass, { scope, name, quota }: Counted, { consumed, resetMs }: Count): LimitState & { exceeded: boolean } {
    const exceeded = consumed > quota;
    if (exceeded) {
      blocked.set(name, performance.now() + resetMs);
      refused.inc({ scope });
    }
    const resetSeconds = Math.min(WINDOW_SECONDS, Math.max(1, Math.ceil(resetMs / 1000)));
    return { policy: POLICIES[scope][limitClass], quota, remaining: Math.max(0, quota - consumed), resetSeconds, exceeded, ofCompany: scope === 'company' };
  }

  return {
    async consume(principal, limitClass) {
      const counted = countersOf(principal, limitClass, perMinute[limitClass]);
      if (blocked.size > 0) {
        for (const one of counted) {
          const resetMs = (blocked.get(one.name) ?? 0) - performance.now();
          if (resetMs > 0) return standing(limitClass, one, { consumed: Infinity, resetMs });
        }
      }
      const counts = await together(counted).catch(() => alone(counted));
      const states = counts.map((count, index) => standing(limitClass, counted[index] as Counted, count));
      // The key's own where both are as near.
      return states.reduce((nearest, state) => (state.exceeded || state.remaining < nearest.remaining ? state : nearest));
    },
  };
}

/** A key's own counter, then its company's. */
function countersOf(principal: Principal, limitClass: LimitClass, usual: number): [Counted, Counted] {
  const { company_id: companyId, key_id, user_id, limits, company_limits, highest_limits } = principal;
  const name = `truckroll:limit:{${companyId}}:${limitClass}`;
  const company = company_limits?.[limitClass] ?? COMPANY_FACTOR * Math.max(usual, highest_limits?.[limitClass] ?? 0);
  return [
    { scope: 'key', name: `${name}:${key_id ?? user_id}`, quota: limits?.[limitClass] ?? usual },
    { scope: 'company', name, quota: company },
  ];
}

/** Counts for both in one trip. What a key's own limit refuses does not count for its company. */
const SCRIPT = `
local counts = {}
for i = 1, 2 do
  local consumed = redis.call('INCR', KEYS[i])
  local reset = redis.call('PTTL', KEYS[i])
  if reset < 0 then
    reset = ${WINDOW_SECONDS * 1000}
    redis.call('PEXPIRE', KEYS[i], reset)
  end
  counts[2 * i - 1] = consumed
  counts[2 * i] = reset
  if consumed > tonumber(ARGV[i]) then break end
end
return counts`;

type Counting = (counted: readonly [Counted, Counted]) => Promise<Count[]>;

function countTogether(redis: RedisLink): Counting {
  // By its hash, which saves sending it every time.
  const sha = createHash('sha1').update(SCRIPT).digest('hex');
  return async ([key, company]) => {
    const options = { keys: [key.name, company.name], arguments: [String(key.quota), String(company.quota)] };
    const answer = (await redis.run('count_request', async (client) => {
      try {
        return await client.evalSha(sha, options);
      } catch (error) {
        if (!String(error).includes('NOSCRIPT')) throw error;
        return client.eval(SCRIPT, options);
      }
    })) as number[];
    const counts: Count[] = [];
    for (let at = 0; at < answer.length; at += 2) counts.push({ consumed: answer[at] as number, resetMs: answer[at + 1] as number });
    return counts;
  };
}

function countAlone(): Counting {
  // Counts on whatever the quota, which differs from caller to caller.
  const memory = new RateLimiterMemory({ points: Number.MAX_SAFE_INTEGER, duration: WINDOW_SECONDS });
  return async (counted) => {
    const counts: Count[] = [];
    for (const { name, quota } of counted) {
      const { consumedPoints, msBeforeNext }: RateLimiterRes = await memory.consume(name);
      counts.push({ consumed: consumedPoints, resetMs: msBeforeNext });
      if (consumedPoints > quota) break;
    }
    return counts;
  };
}
