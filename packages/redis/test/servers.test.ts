import { readConfig } from '@truckroll/process';
import { parseRedisUrl, redisSetting } from '../src/servers.ts';

const none = { tls: false };

test.each([
  ['redis://redis:6379', { kind: 'single', url: 'redis://redis:6379' }],
  ['redis://[::1]:6379', { kind: 'single', url: 'redis://[::1]:6379' }],
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
  ['redis://redis/', { kind: 'single', url: 'redis://redis/' }],
  ['redis://redis/15', { kind: 'single', url: 'redis://redis/15' }],
  ['redis+cluster://a/', { kind: 'cluster', nodes: [{ host: 'a', port: 6379 }], login: none }],
  ['redis+cluster://@a', { kind: 'cluster', nodes: [{ host: 'a', port: 6379 }], login: none }],
  ['redis+cluster://:@a', { kind: 'cluster', nodes: [{ host: 'a', port: 6379 }], login: none }],
  ['redis+cluster://m%65@a', { kind: 'cluster', nodes: [{ host: 'a', port: 6379 }], login: { username: 'me', tls: false } }],
  ['rediss+cluster://:pass:word@a', { kind: 'cluster', nodes: [{ host: 'a', port: 6379 }], login: { password: 'pass:word', tls: true } }],
  [
    'redis+cluster://a:1, b:2',
    {
      kind: 'cluster',
      nodes: [
        { host: 'a', port: 1 },
        { host: 'b', port: 2 },
      ],
      login: none,
    },
  ],
  [
    'redis+sentinel://a/my%20main?sentinel_username=watch&sentinel_password=dog',
    {
      kind: 'sentinel',
      nodes: [{ host: 'a', port: 26379 }],
      master: 'my main',
      login: none,
      sentinelLogin: { username: 'watch', password: 'dog', tls: false },
    },
  ],
  [
    'redis+sentinel://me@a/main?',
    { kind: 'sentinel', nodes: [{ host: 'a', port: 26379 }], master: 'main', login: { username: 'me', tls: false }, sentinelLogin: none },
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
  'redis+cluster://a:0',
  'redis+cluster://a,::1:7000',
  'redis://',
  'redis://a:0',
  'redis://a,b',
  'redis+cluster://%zz@a:1',
  'redis://a:1?db=3',
  'redis://a:1#3',
  'redis://a:1/3x',
  'redis://a:1/x3',
  'redis://a:99999',
  'xredis://a:1',
  'redis+cluster://',
  'redis+cluster://,a',
  'redis+cluster://a:1#x',
  'redis+cluster://a:1?x#y',
  'redis+cluster://a:1/?x',
  'redis+cluster://a@b@c',
  'xredis+cluster://a:1',
  'redisx+cluster://a:1',
  'redis+clusters://a:1',
  'redis+sentinel://a:1/',
  'redis+sentinel://a:1/%zz',
  'redis+sentinel://a:1/main%2F0',
  'redis+sentinel://a:1/main#x',
  'redis+sentinel://a:1/main?sentinel_password=x&db=1',
])('refuses %s at start, with the accepted forms and without repeating the URL', (url) => {
  const read = () => readConfig({ redis: redisSetting('REDIS_URL') }, { REDIS_URL: url });
  expect(read).toThrow(/^REDIS_URL is invalid: it must be redis:\/\/host:port, redis\+cluster:\/\/[^\n]* or redis\+sentinel:\/\/[^\n]*needed$/);
});
