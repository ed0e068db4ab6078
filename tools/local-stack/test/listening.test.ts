import { IPV4, isLoopback, listeningOf, requireAddress } from '../src/start/listening.ts';

const said: string[] = [];
const listening = (host: string | undefined) => {
  const { host: at, reachedAt, loopback } = listeningOf(host, (line) => said.push(line));
  return [at, reachedAt, loopback];
};

test.each([
  [undefined, ['127.0.0.1', '127.0.0.1', '127.0.0.1']],
  ['0.0.0.0', ['0.0.0.0', '127.0.0.1', '127.0.0.1']],
  ['192.0.2.7', ['192.0.2.7', '192.0.2.7', '127.0.0.1']],
  ['::1', ['::1', '::1', '::1']],
  ['[::1]', ['::1', '::1', '::1']],
  ['::', ['::', '::1', '::1']],
  ['2001:db8::7', ['2001:db8::7', '2001:db8::7', '::1']],
])('with HOST=%s, the API listens on the first, is reached at the second, and the rest is at the third: %p', (host, expected) => {
  expect(listening(host)).toEqual(expected);
  expect(said).toEqual([]);
});

test.each(['x86_64-conda-linux-gnu', 'localhost', '10.0.0.256'])('ignores HOST=%s, which is no IP address, and says so', (host) => {
  expect(listening(host)).toEqual(['127.0.0.1', '127.0.0.1', '127.0.0.1']);
  expect(said.splice(0)).toEqual([`HOST is ${host}, which is no IP address: the API listens on 127.0.0.1.`]);
});

test('knows what only this machine reaches', () => {
  expect(['127.0.0.1', '127.1.2.3', '::1', '0.0.0.0', '::', '192.0.2.7'].map(isLoopback)).toEqual([true, true, true, false, false, false]);
});

test('refuses an address that this machine does not have, and says what to set', async () => {
  await requireAddress(IPV4);
  await expect(requireAddress({ ...IPV4, host: '203.0.113.5' })).rejects.toThrow(/^HOST is 203\.0\.113\.5, and this machine has no such address: set HOST to /);
});
