// Request limits per minute (decisions §3, §12): for each key, and for its company over all keys and users. All gateways count together in
// Redis; without Redis each counts alone. Every request is counted before it is let through. For a busy caller a gateway counts several
// requests ahead, which saves a round trip for each.
import { ApiError } from '@truckroll/contract';
import type { Principal } from '@truckroll/contract/gen/integrations/v1/identity';
import type { RedisLink } from '@truckroll/redis';
import type { CounterMetric, Metrics } from '@truckroll/telemetry';
import { LRUCache } from 'lru-cache';
import type { Exchange, LimitState } from '../http/exchange.ts';
import { redisScript } from '../redis-script.ts';

const WINDOW_SECONDS = 60;
/** A company's limit over all its keys and users, as a multiple of one key's. */
const COMPANY_FACTOR = 3;
/** Maximum callers over their limit that are remembered: more than can exceed it within a minute. */
const MOST_BLOCKED = 10_000;
/** Requests expected within this time in ms are counted ahead. Other gateways see them this much early. */
const AHEAD_MS = 250;
const MOST_AHEAD = 64;
/** Maximum share of a limit that one gateway counts ahead. What it has not used when the minute ends is lost to the caller. */
const AHEAD_SHARE = 0.01;
/** Maximum counters of a gateway that counts alone; the counts of callers beyond that begin anew. */
const MOST_ALONE = 100_000;
/** Maximum callers for which requests are counted ahead. Requests of others are counted one by one. */
const MOST_STOCKS = 10_000;

/** `changes` and `digests` are the operations of the change feed (decisions §14, rules 8 and 9). */
export type LimitClass = 'reads' | 'reports' | 'writes' | 'changes' | 'digests';
type Scope = 'key' | 'company';

/** Names of the policies in the RateLimit headers. */
const POLICIES: Readonly<Record<Scope, Readonly<Record<LimitClass, string>>>> = {
  key: { reads: 'default', reports: 'reports', writes: 'writes', changes: 'changes', digests: 'digests' },
  company: { reads: 'company', reports: 'company-reports', writes: 'company-writes', changes: 'company-changes', digests: 'company-digests' },
};

export interface Limits {
  /** Counts `requests` requests. Returns the limit that is closer to being reached, with `exceeded` if they are too many. Never throws or rejects. */
  consume(principal: Principal, limitClass: LimitClass, requests?: number): Promise<LimitResult> | LimitResult;
}

type LimitResult = LimitState & { exceeded: boolean };

export interface LimitsOptions {
  redis: RedisLink;
  perMinute: Readonly<Record<LimitClass, number>>;
  metrics: Metrics;
}

interface Counted {
  scope: Scope;
  /** The counter's key in Redis. The keys of one company hash to one slot of a Redis cluster. */
  name: string;
  quota: number;
}

interface Count {
  consumed: number;
  /** performance.now() when the window starts anew. */
  endsAt: number;
}

/** Requests of one key and class that are counted in Redis but have not arrived yet. */
interface Stock {
  readonly counts: readonly Count[];
  readonly size: number;
  left: number;
  readonly takenAt: number;
  /** Whether a call to count more is under way. */
  asking: boolean;
}

/**
 * The limits of one gateway. `perMinute` are the defaults of each class (decisions §3); a principal's own limits win (§12). While `redis` is away
 * this gateway counts alone.
 */
export function createLimits({ redis, perMinute, metrics }: LimitsOptions): Limits {
  const alone = countAlone();
  const together = countTogether(redis);
  const refused: CounterMetric<'scope'> = metrics.counter('gateway_limited_total', 'Requests refused as over a limit', ['scope']);
  /** When the windows of callers over their limit end, by counter. Until then they are rejected from memory, without a call to Redis. */
  const blocked = new LRUCache<string, number>({ max: MOST_BLOCKED });

  const stocks = new LRUCache<string, Stock>({ max: MOST_STOCKS });

  function resultOf(limitClass: LimitClass, { scope, name, quota }: Counted, { consumed, endsAt }: Count): LimitResult {
    const exceeded = consumed > quota;
    if (exceeded) {
      blocked.set(name, endsAt);
      refused.inc({ scope });
    }
    const resetSeconds = Math.min(WINDOW_SECONDS, Math.max(1, Math.ceil((endsAt - performance.now()) / 1000)));
    return { policy: POLICIES[scope][limitClass], quota, remaining: Math.max(0, quota - consumed), resetSeconds, exceeded, ofCompany: scope === 'company' };
  }

  /** `ahead` is how many of the counted requests have not arrived yet. */
  function nearest(limitClass: LimitClass, counted: readonly Counted[], counts: readonly Count[], ahead: number): LimitResult {
    const states = counts.map(({ consumed, endsAt }, index) => resultOf(limitClass, counted[index] as Counted, { consumed: consumed - ahead, endsAt }));
    // The key's limit if both are equally close.
    return states.reduce((near, state) => (state.exceeded || state.remaining < near.remaining ? state : near));
  }

  async function countAll(limitClass: LimitClass, counted: readonly [Counted, Counted], requests: number): Promise<LimitResult> {
    // `consume` has already subtracted the requests counted ahead.
    stocks.delete(counted[0].name);
    try {
      const { counts } = await together(counted, requests, requests);
      return nearest(limitClass, counted, counts, 0);
    } catch {
      return nearest(limitClass, counted, alone(counted, requests), 0);
    }
  }

  async function count(limitClass: LimitClass, counted: readonly [Counted, Counted]): Promise<LimitResult> {
    const [{ name }] = counted;
    const known = stocks.get(name);
    const takenAt = performance.now();
    // While one request asks for more, others are counted separately: no request waits for another.
    const wanted = known === undefined || known.asking ? 1 : likely(known, takenAt, counted);
    if (known !== undefined && wanted > 1) known.asking = true;
    try {
      const { granted, counts } = await together(counted, wanted, 1);
      // Keeps requests that another call has counted ahead in the meantime.
      const own = wanted > 1 || (stocks.get(name) === known && known?.asking !== true);
      if (own) stocks.set(name, { counts, size: granted, left: granted - 1, takenAt, asking: false });
      return nearest(limitClass, counted, counts, granted - 1);
    } catch {
      stocks.delete(name);
      return nearest(limitClass, counted, alone(counted, 1), 0);
    }
  }

  return {
    consume(principal, limitClass, requests = 1) {
      const counted = countersOf(principal, limitClass, perMinute[limitClass]);
      const now = performance.now();
      if (blocked.size > 0) {
        for (const one of counted) {
          const endsAt = blocked.get(one.name) ?? 0;
          if (endsAt > now) return resultOf(limitClass, one, { consumed: Infinity, endsAt });
        }
      }
      const stock = stocks.get(counted[0].name);
      const ahead = stock === undefined || stock.counts.some(({ endsAt }) => endsAt <= now) ? 0 : stock.left;
      if (stock === undefined || ahead < requests) return requests === 1 ? count(limitClass, counted) : countAll(limitClass, counted, requests - ahead);
      stock.left -= requests;
      return nearest(limitClass, counted, stock.counts, stock.left);
    },
  };
}

/** Throws ApiError 429 if the limit is exceeded. */
export function refuseBeyond(exchange: Exchange, state: LimitResult): void {
  exchange.limit = state;
  if (!state.exceeded) return;
  const whose = state.ofCompany ? ' by all keys and users of the company' : '';
  throw new ApiError('RATE_LIMITED', `More than ${state.quota} requests in a minute${whose}. Go on after the time in Retry-After.`, {
    retryAfterSeconds: state.resetSeconds,
  });
}

/** Number of requests to count with this one, from the rate of the previous ones. */
function likely({ size, left, takenAt }: Stock, now: number, counted: readonly Counted[]): number {
  const most = Math.min(MOST_AHEAD, 2 * size, ...counted.map(({ quota }) => Math.floor(quota * AHEAD_SHARE)));
  return Math.max(1, Math.min(most, Math.floor(((size - left) * AHEAD_MS) / (now - takenAt))));
}

/** A key's own counter, then its company's. */
function countersOf(principal: Principal, limitClass: LimitClass, usual: number): [Counted, Counted] {
  const { company_id: companyId, key_id, user_id } = principal;
  // Keys and companies have limits of their own for some classes only.
  const [limits, company_limits, highest_limits] = [principal.limits, principal.company_limits, principal.highest_limits].map(
    (own): { readonly [limitClass in LimitClass]?: number | null | undefined } => ({ ...own }),
  );
  const name = `truckroll:limit:{${companyId}}:${limitClass}`;
  const company = company_limits?.[limitClass] ?? COMPANY_FACTOR * Math.max(usual, highest_limits?.[limitClass] ?? 0);
  return [
    { scope: 'key', name: `${name}:${key_id ?? user_id}`, quota: limits?.[limitClass] ?? usual },
    { scope: 'company', name, quota: company },
  ];
}

/** Counts all `wanted` requests, or only those at hand if all exceed a limit. What the key's limit rejects is not counted for the company. */
const SCRIPT = `
local granted = tonumber(ARGV[3])
for i = 1, 2 do
  if tonumber(redis.call('GET', KEYS[i]) or 0) + granted > tonumber(ARGV[i]) then granted = tonumber(ARGV[4]) end
end
local answer = { granted }
for i = 1, 2 do
  local consumed = redis.call('INCRBY', KEYS[i], granted)
  local reset = redis.call('PTTL', KEYS[i])
  if reset < 0 then
    reset = ${WINDOW_SECONDS * 1000}
    redis.call('PEXPIRE', KEYS[i], reset)
  end
  answer[2 * i] = consumed
  answer[2 * i + 1] = reset
  if consumed > tonumber(ARGV[i]) then break end
end
return answer`;

type Counting = (counted: readonly [Counted, Counted], wanted: number, atHand: number) => Promise<{ granted: number; counts: Count[] }>;

function countTogether(redis: RedisLink): Counting {
  const run = redisScript(redis, 'count_request', SCRIPT);
  return async ([key, company], wanted, atHand) => {
    const askedAt = performance.now();
    const [granted = 1, ...answer] = (await run([key.name, company.name], [key.quota, company.quota, wanted, atHand])) as number[];
    const counts: Count[] = [];
    for (let at = 0; at < answer.length; at += 2) counts.push({ consumed: answer[at] as number, endsAt: askedAt + (answer[at + 1] as number) });
    return { granted, counts };
  };
}

/** Counts in this process, for limits of which Redis knows nothing: the quota differs from caller to caller. */
function countAlone(): (counted: readonly Counted[], requests: number) => Count[] {
  const windows = new LRUCache<string, Count>({ max: MOST_ALONE });
  return (counted, requests) => {
    const now = performance.now();
    const counts: Count[] = [];
    for (const { name, quota } of counted) {
      const window = windows.get(name);
      const count = window !== undefined && window.endsAt > now ? window : { consumed: 0, endsAt: now + WINDOW_SECONDS * 1000 };
      count.consumed += requests;
      windows.set(name, count);
      counts.push({ ...count });
      if (count.consumed > quota) break;
    }
    return counts;
  };
}
