import { remedyOf } from '../src/remedy.ts';

test.each([
  ['MOVED 3999 127.0.0.1:6381', 'redis+cluster://'],
  ['ASK 3999 127.0.0.1:6381', 'redis+cluster://'],
  ["CROSSSLOT Keys in request don't hash to the same slot", 'redis+cluster://'],
  ['ERR This instance has cluster support disabled', 'begin REDIS_URL with redis://'],
  ["READONLY You can't write against a read only replica.", 'read-only replica'],
  ["OOM command not allowed when used memory > 'maxmemory'.", 'maxmemory'],
  ["ERR unknown command 'SET', with args beginning with: 'x'", 'is a Sentinel'],
  ['ERR unknown command SET', 'is a Sentinel'],
  ["ERR unknown command 'SENTINEL', with args beginning with: 'x'", 'is not a Sentinel'],
  ['ERR unknown command sentinel', 'is not a Sentinel'],
  ['127.0.0.1:26379 watches no master named main', 'name of the master'],
  ['NOAUTH Authentication required.', 'user or the password'],
  ['WRONGPASS invalid username-password pair or user is disabled.', 'user or the password'],
  ["NOPERM User x has no permissions to run the 'set' command", 'lacks a permission'],
])('gives advice for %s', (answer, advice) => {
  expect(remedyOf(new Error(answer))).toContain(advice);
  expect(remedyOf(answer)).toContain(advice);
});

test.each([
  'LOADING Redis is loading the dataset in memory',
  'connect ECONNREFUSED 127.0.0.1:6379',
  'ERR unknown command SETTLE',
  'ERR unknown command SENTINELS',
  'REMOVED',
  'TASK failed',
  'MOVEDX',
  'OOMPH',
  'ZOOM',
  'not READONLY',
  'READONLYX',
  'no NOPERM',
  'NOPERMIT',
  'no NOAUTH',
  'NOAUTHOR',
])('gives no advice for %s', (answer) => {
  expect(remedyOf(new Error(answer))).toBeUndefined();
});
