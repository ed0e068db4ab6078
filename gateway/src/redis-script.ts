import { createHash } from 'node:crypto';
import type { RedisLink } from '@truckroll/redis';

type Run = (keys: string[], args: readonly (number | string)[]) => Promise<unknown>;

/** A Lua script, called by its hash, which saves sending the script every time. `name` is that of its durations. Rejects while Redis is away. */
export function redisScript(redis: RedisLink, name: string, script: string): Run {
  const sha = createHash('sha1').update(script).digest('hex');
  return (keys, args) =>
    redis.run(name, async (client) => {
      const options = { keys, arguments: args.map(String) };
      try {
        return await client.evalSha(sha, options);
      } catch (error) {
        if (!String(error).includes('NOSCRIPT')) throw error;
        return client.eval(script, options);
      }
    });
}
