// Hostile targets. None may cause a connection: canaries listen on loopback over IPv4 and IPv6 on the same port, so that any
// connection that gets through reaches one of them.
import { exchanges } from './support/exchanges.ts';
import { startReceiver, type Receiver } from './support/receiver.ts';

let canary: Receiver;
let canary6: Receiver | undefined;

beforeAll(async () => {
  canary = await startReceiver();
  canary6 = await startReceiver(undefined, { host: '::1' }).catch(() => undefined);
});
afterAll(async () => {
  await canary.close();
  await canary6?.close();
});

const connections = () => canary.connections + (canary6?.connections ?? 0);

const literals = [
  // Loopback in every notation that a URL parser accepts.
  ...'127.0.0.1 127.1 127.0.1 2130706433 0x7f000001 0x7f.0.0.1 0x7f.1 0177.0.0.1 017700000001 0177.1 127.0.0.1. 127.255.255.254'.split(' '),
  ...'①②⑦.⓪.⓪.① 127。0。0。1 %31%32%37.0.0.1'.split(' '),
  // This network, private, carrier-grade, link-local and metadata, reserved, documentation, benchmarks, multicast.
  ...'0.0.0.0 0 0.1.2.3 10.0.0.1 10.255.255.255 167772161 0xa.1 012.0.0.1 100.64.0.1 100.127.255.255 169.254.169.254 0xa9fea9fe'.split(' '),
  ...'2852039166 172.16.0.1 172.31.255.255 192.0.0.1 192.0.0.170 192.0.2.1 192.88.99.1 192.168.0.1 192.168.255.255 3232235521 198.18.0.1'.split(' '),
  ...'198.19.255.255 198.51.100.1 203.0.113.1 224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255'.split(' '),
  // IPv6: loopback, unspecified, mapped, compatible, NAT64, 6to4, Teredo, local, reserved, multicast.
  ...'[::1] [0:0:0:0:0:0:0:1] [::] [::ffff:127.0.0.1] [::ffff:7f00:1] [::ffff:169.254.169.254] [::ffff:8.8.8.8] [::127.0.0.1]'.split(' '),
  ...'[::ffff:0:127.0.0.1] [64:ff9b::127.0.0.1] [64:ff9b::7f00:1] [64:ff9b::a00:1] [64:ff9b:1::127.0.0.1] [2002:7f00:1::]'.split(' '),
  ...'[2002:a00:1::1] [2001:0:7f00:1::] [2001::1] [2001:2::1] [2001:10::1] [2001:20::1] [2001:db8::1] [3fff::1] [100::1] [5f00::1]'.split(' '),
  ...'[fc00::1] [fd00:ec2::254] [fe80::1] [febf::1] [fec0::1] [ff02::1] [4000::1]'.split(' '),
  // Names that mean this machine or network without a DNS lookup.
  ...'localhost LOCALHOST localhost. hooks.localhost metadata.google.internal printer.local router.home.arpa'.split(' '),
];

/** Addresses that a hostile name may resolve to. The first of several is harmless. */
const answers: readonly (readonly string[])[] = [
  ['127.0.0.1'],
  ['10.1.2.3'],
  ['169.254.169.254'],
  ['100.64.0.1'],
  ['192.168.1.1'],
  ['172.20.0.1'],
  ['0.0.0.0'],
  ['255.255.255.255'],
  ['::1'],
  ['::'],
  ['::ffff:127.0.0.1'],
  ['::ffff:7f00:1'],
  ['64:ff9b::7f00:1'],
  ['64:ff9b:1::7f00:1'],
  ['2002:7f00:1::'],
  ['fd00::1'],
  ['fe80::1'],
  ['fe80::1%lo'],
  ['2606:4700::1%lo'],
  ['2001:0:1::1'],
  ['ff02::1'],
  ['::7f00:1'],
  ['0177.0.0.1'],
  ['127.1'],
  ['2130706433'],
  ['evil'],
  ['93.184.215.14', '127.0.0.1'],
  ['127.0.0.1', '93.184.215.14'],
  ['2606:2800:21f::1', '::1'],
  ['93.184.215.14', '::ffff:10.0.0.1'],
  // A private address after more addresses than are ever dialled.
  [...Array.from({ length: 9 }, (_, i) => `93.184.215.${i + 1}`), '127.0.0.1'],
];

test('covers more than 100 hostile targets', () => {
  expect(literals.length + answers.length).toBeGreaterThan(100);
});

test.each(literals)('refuses https://%s without dialling', async (host) => {
  for (const scheme of ['https', 'http']) {
    const { send, close } = exchanges({ allowHttp: true, allowed: ['127.0.0.1:1'] });
    const result = await send(`${scheme}://${host}:${canary.port}/latest/meta-data`);
    await close();
    expect(result).toMatchObject({ failure: { kind: 'ATTEMPT_ERROR_FORBIDDEN_TARGET' } });
    expect(result.status).toBeUndefined();
    expect(result.address).toBeUndefined();
  }
  expect(connections()).toBe(0);
});

test.each(answers)('refuses a name that resolves to %s… without dialling', async (...addresses) => {
  const { send, close } = exchanges({ allowHttp: true, resolve: async () => addresses });
  for (const scheme of ['https', 'http']) {
    const result = await send(`${scheme}://receiver.test:${canary.port}/`);
    expect(result).toMatchObject({ failure: { kind: 'ATTEMPT_ERROR_FORBIDDEN_TARGET' } });
    expect(result.address).toBeUndefined();
  }
  await close();
  expect(connections()).toBe(0);
});

test.each([
  'file:///etc/passwd',
  'gopher://127.0.0.1:25/',
  'ftp://127.0.0.1/',
  'https://user:password@receiver.test/',
  'data:text/plain,x',
  '//127.0.0.1/',
  'https://',
  '',
])('refuses %s as a target', async (url) => {
  const { send, close } = exchanges({ allowHttp: true });
  expect(await send(url)).toMatchObject({ failure: { kind: 'ATTEMPT_ERROR_FORBIDDEN_TARGET' } });
  await close();
});

test('refuses http and allows https to a public address, unless the operator configures otherwise', async () => {
  const { send, close } = exchanges({ allowed: [canary.target] });
  expect(await send(`http://receiver.test:${canary.port}/`)).toMatchObject({ failure: { kind: 'ATTEMPT_ERROR_FORBIDDEN_TARGET' } });
  expect(connections()).toBe(0);
  await close();
});

test('resolves a name once per connection and never dials a later answer unchecked', async () => {
  const public1 = await startReceiver();
  const asked: string[] = [];
  // The first answer is allowed; later ones are the canary, which a guard that resolves twice would dial.
  const resolve = async (name: string) => {
    asked.push(name);
    return asked.length === 1 ? ['127.0.0.1'] : ['127.0.0.2'];
  };
  const { send, close } = exchanges({ allowHttp: true, allowed: [public1.target], resolve });
  const first = await send(`http://rebinding.test:${public1.port}/`);
  expect(first).toMatchObject({ status: 200, address: '127.0.0.1' });
  expect(asked).toEqual(['rebinding.test']);
  expect(public1.received).toHaveLength(1);
  // A new connection resolves again, and the new address is refused.
  const second = await send(`http://rebinding.test:${public1.port}/`, 'another endpoint');
  expect(second).toMatchObject({ failure: { kind: 'ATTEMPT_ERROR_FORBIDDEN_TARGET' } });
  await close();
  await public1.close();
});

test('allows a target only for its exact address and port', async () => {
  const { send, close } = exchanges({ allowed: [`127.0.0.1:${canary.port + 1}`, `127.0.0.2:${canary.port}`] });
  expect(await send(canary.url)).toMatchObject({ failure: { kind: 'ATTEMPT_ERROR_FORBIDDEN_TARGET' } });
  expect(connections()).toBe(0);
  await close();
});

test('refuses a denied range, by address and by name, even for an allowed target', async () => {
  const { send, close } = exchanges({ allowHttp: true, allowed: [canary.target], denied: ['127.0.0.0/8'], resolve: async () => ['127.0.0.1'] });
  for (const host of ['127.0.0.1', 'localhost', 'receiver.test']) {
    const result = await send(`http://${host}:${canary.port}/`);
    expect(result.failure).toMatchObject({ kind: 'ATTEMPT_ERROR_FORBIDDEN_TARGET', message: expect.stringContaining('allows no webhooks') });
    expect(result.address).toBeUndefined();
  }
  expect(connections()).toBe(0);
  await close();
});

test.each([301, 302, 303, 307, 308])('does not follow a redirect (%i) to a private address', async (status) => {
  for (const location of [canary.url, `//127.0.0.1:${canary.port}/`, `http://[::1]:${canary.port}/`, `http://0x7f.1:${canary.port}/`]) {
    const redirecting = await startReceiver((response) => response.writeHead(status, { location }).end());
    const { send, close } = exchanges({ allowed: [redirecting.target] });
    expect(await send(redirecting.url)).toMatchObject({ status });
    await close();
    await redirecting.close();
  }
  expect(connections()).toBe(0);
});

test('ignores proxy settings in the environment', async () => {
  const names = ['http_proxy', 'https_proxy', 'HTTP_PROXY', 'HTTPS_PROXY', 'all_proxy', 'NODE_USE_ENV_PROXY'];
  const before = names.map((name) => [name, process.env[name]] as const);
  for (const name of names) process.env[name] = name === 'NODE_USE_ENV_PROXY' ? '1' : canary.url;
  const there = await startReceiver();
  const { send, close } = exchanges({ allowed: [there.target] });
  expect(await send(there.url)).toMatchObject({ status: 200 });
  for (const [name, value] of before) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
  await close();
  await there.close();
  expect(connections()).toBe(0);
});
