// Scripts that Redis runs, against a real server.
import { hash, randomUUID } from 'node:crypto';
import { RedisLink, parseRedisUrl } from '@truckroll/redis';
import { createMetrics, silentLog } from '@truckroll/telemetry';
import { redisScript } from '../src/redis-script.ts';
import { redisUrl } from './support/gateway.ts';

const metrics = createMetrics('test');
let link: RedisLink;
beforeAll(async () => {
  const ready = Promise.withResolvers<void>();
  link = new RedisLink({ servers: parseRedisUrl(redisUrl())!, name: 'test', log: silentLog, metrics, keys: ['truckroll:test'], onReady: ready.resolve });
  link.start();
  await ready.promise;
});
afterAll(() => link.stop());

test('runs a script that the server does not know, which then knows it by its hash', async () => {
  const script = `return { KEYS[1], KEYS[2], ARGV[1], ARGV[2] } -- ${randomUUID()}`;
  const byHash = () => link.run('by_hash', (client) => client.evalSha(hash('sha1', script), { keys: ['a', 'b'], arguments: ['8', 'y'] }));
  const run = redisScript(link, 'trial', script);
  await expect(byHash()).rejects.toThrow('NOSCRIPT');
  expect(await run(['a', 'b'], [7, 'x'])).toEqual(['a', 'b', '7', 'x']);
  expect(await byHash()).toEqual(['a', 'b', '8', 'y']);
  expect(await run(['c', 'd'], [1, 2])).toEqual(['c', 'd', '1', '2']);
  expect((await metrics.render()).body).toMatch(/_count\{[^}]*db_query_summary="trial",error_type=""[^}]*\} 2$/m);
});

test('runs a script that fails only once, and rejects with its error', async () => {
  const key = `truckroll:test:${randomUUID()}`;
  const run = redisScript(link, 'failing_trial', `redis.call('INCR', KEYS[1]) return redis.error_reply('ERR none of these')`);
  await expect(run([key], [])).rejects.toThrow('none of these');
  const failed = Number(await link.run('read', (client) => client.get(key)));
  await expect(run([key], [])).rejects.toThrow('none of these');
  expect([failed, Number(await link.run('read', (client) => client.get(key)))]).toEqual([1, 2]);
  await link.run('forget', (client) => client.del(key));
  expect((await metrics.render()).body).toMatch(/_count\{[^}]*db_query_summary="failing_trial",error_type="unavailable"[^}]*\} 2$/m);
});
