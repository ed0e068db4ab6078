// Slots of held polls: at most 20 of a company, over all gateways (decisions §14, rule 8). They are kept in Redis; without it each gateway
// counts alone.
import { randomUUID } from 'node:crypto';
import type { RedisLink } from '@truckroll/redis';
import { redisScript } from '../redis-script.ts';

const MOST_OF_COMPANY = 20;
/** Longest time in ms for which a poll may be held: a company's set is deleted after it. */
const LONGEST_MS = 30_000;

/** A member for each held poll, with the time at which its slot becomes free even if its gateway was killed. */
const TAKE = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
if redis.call('ZCARD', KEYS[1]) >= ${MOST_OF_COMPANY} then return 0 end
redis.call('ZADD', KEYS[1], now + ARGV[2], ARGV[1])
redis.call('PEXPIRE', KEYS[1], ${LONGEST_MS})
return 1`;

export interface PollSlots {
  /** Resolves to a function that frees the slot, or to undefined if all slots of the company are taken. Never rejects. */
  take(companyId: string, ms: number): Promise<(() => void) | undefined>;
}

/** One for each gateway: its own count holds even if Redis is away. */
export function createPollSlots(redis: RedisLink): PollSlots {
  const takeTogether = redisScript(redis, 'take_poll_slot', TAKE);
  const own = new Map<string, number>();
  const add = (companyId: string, more: number): void => {
    const count = (own.get(companyId) ?? 0) + more;
    if (count === 0) own.delete(companyId);
    else own.set(companyId, count);
  };
  return {
    async take(companyId, ms) {
      if ((own.get(companyId) ?? 0) >= MOST_OF_COMPANY) return undefined;
      add(companyId, 1);
      const [key, id] = [`truckroll:polls:${companyId}`, randomUUID()];
      const taken = await takeTogether([key], [id, Math.ceil(ms)]).catch(() => undefined);
      if (taken === 0) {
        add(companyId, -1);
        return undefined;
      }
      return () => {
        add(companyId, -1);
        // If Redis is away, the slot becomes free at its time.
        redis.run('free_poll_slot', (client) => client.zRem(key, id)).catch(() => undefined);
      };
    },
  };
}
