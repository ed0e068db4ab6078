import { readConfig } from '@truckroll/service-kit';
import { parseRedisUrl, redisSetting } from '../src/index.ts';

const none = { tls: false };

test.each([
  ['redis://redis:6379', { kind: 'single', url: 'redis://redis:6379' }],
  ['rediss://user:p%40ss@redis/3', { kind: 'single', url: 'rediss://user:p%40ss@redis/3' }],
  [
    'redis+cluster://a:7000,b,[::1]:7002',
    {
      kind: 'cluster',
      nodes: [
        { host: 'a', port: 7000 },
        { host: 'b', port: 6379 },
        { host: '::1', port: 7002 },
      ],
      login: none,
    },
  ],
  ['rediss+cluster://me:p%40ss@a:1', { kind: 'cluster', nodes: [{ host: 'a', port: 1 }], login: { username: 'me', password: 'p@ss', tls: true } }],
  [
    'rediss+sentinel://:secret@a,b:1/main?sentinel_password=x%26y',
    {
      kind: 'sentinel',
      nodes: [
        { host: 'a', port: 26379 },
        { host: 'b', port: 1 },
      ],
      master: 'main',
      login: { password: 'secret', tls: true },
      sentinelLogin: { password: 'x&y', tls: true },
    },
  ],
])('parses the servers from %s', (url, servers) => {
  expect(parseRedisUrl(url)).toStrictEqual(servers);
});

test.each([
  'redis',
  'http://redis:6379',
  'redis://a:1,b:2',
  'redis://a:1/main',
  'redis+sentinel://a:1',
  'redis+sentinel://a:1/main/0',
  'redis+sentinel://a:1/main?password=x',
  'redis+cluster://a:1/main',
  'redis+cluster://a:1?sentinel_password=x',
  'redis+cluster://a:1,',
  'redis+cluster://a:99999',
  'redis+cluster://%zz@a:1',
])('refuses %s at start, with the accepted forms and without repeating the URL', (url) => {
  const read = () => readConfig({ redis: redisSetting('REDIS_URL') }, { REDIS_URL: url });
  expect(read).toThrow(/^REDIS_URL is invalid: it must be redis:\/\/host:port, redis\+cluster:\/\/[^\n]* or redis\+sentinel:\/\/[^\n]*needed$/);
});
