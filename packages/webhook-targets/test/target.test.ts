// Checks that need no network. The dispatcher's targets.test.ts tests that a refused address is never connected to.
import { TargetProblem, checkAddress, checkAllowedTargets, parseDeniedTargets, readTarget } from '../src/index.ts';

const policy = { allowHttp: false, allowedTargets: ['127.0.0.1:4567', '[::1]:4567'], deniedTargets: [] };

test.each([
  ['https://hooks.example.com/in?x=1', { host: 'hooks.example.com', port: 443, isAddress: false }],
  ['https://93.184.215.14:8443', { host: '93.184.215.14', port: 8443, isAddress: true }],
  ['https://[2606:4700::1]/', { host: '2606:4700::1', port: 443, isAddress: true }],
  ['http://2130706433:4567/', { host: '127.0.0.1', port: 4567 }],
  ['http://localhost:4567/', { host: 'localhost' }],
  ['http://any.localhost.:4567/', { host: 'any.localhost.' }],
  ['HTTPS://HOOKS.example.com', { host: 'hooks.example.com', port: 443 }],
  ['https://notlocalhost', { host: 'notlocalhost' }],
  ['https://my-internal', { host: 'my-internal' }],
  ['https://hooks.example.com.', { host: 'hooks.example.com.' }],
  [`https://${'a'.repeat(63)}.example`, { port: 443 }],
  ['https://b\u00fccher.example', { host: 'xn--bcher-kva.example' }],
  ['https://local.example.com', { host: 'local.example.com' }],
])('%s is allowed as a target', (url, expected) => {
  expect(readTarget(url, policy)).toMatchObject(expected);
});

test.each([
  ['hooks.example.com', 'absolute URL'],
  ['ftp://example.com', 'absolute URL'],
  ['http://example.com', 'https://'],
  ['https://a:b@example.com', 'password'],
  ['https://a@example.com', 'password'],
  ['https://:b@example.com', 'password'],
  ['https://example.com/#x', '#'],
  ['https://example.com:0', 'port'],
  ['https://127.0.0.1:4568', '(loopback). The operator can allow this address and port by WEBHOOK_ALLOWED_TARGETS.'],
  ['http://127.0.0.1:4568', '(loopback). The operator can allow'],
  ['http://10.1.2.3', '(private). The operator can allow'],
  ['https://[fd00::1]', 'uniqueLocal'],
  ...['printer.local', 'PRINTER.LOCAL.', 'local', 'db.internal', 'nas.localdomain', 'router.home.arpa'].map((name): [string, string] => [
    `https://${name}`,
    'its own network',
  ]),
  ['https://localhost', 'loopback'],
  ...['a..b', '.example.com', 'example.com..', '-a.example', 'a-.example', '*.example.com', `${'a'.repeat(64)}.example`, `${'a.'.repeat(126)}aa`].map(
    (name): [string, string] => [`https://${name}/`, 'Give a host name of letters, digits and hyphens'],
  ),
])('%s is refused, with a message that says what to give instead', (url, message) => {
  expect(() => readTarget(url, policy)).toThrow(TargetProblem);
  expect(() => readTarget(url, policy)).toThrow(message);
});

test.each([
  ['http://a:b@example.com/#x', ['user name', '#', 'https://']],
  ['https://a@10.1.2.3/#x', ['user name', '#', '(private)']],
  ['http://printer.local:0/', ['a port', 'its own network', 'https://']],
  ['http://10.1.2.3', ['(private)', 'https://']],
  ['http://a@localhost:4567/#x', ['user name', '#']],
  ['ftp://a:b@example.com/#x', ['https://', 'user name', '#']],
])('the message about %s names all its faults', (url, expected) => {
  const read = (): unknown => readTarget(url, policy);
  expect(read).toThrow(expect.objectContaining({ problems: expected.map((part) => expect.stringContaining(part)) }));
});

test('a name that resolves to an address that is not public is refused before connecting', () => {
  const target = readTarget('https://hooks.example.com', policy);
  expect(() => checkAddress(target, '93.184.215.14', policy)).not.toThrow();
  for (const address of ['10.0.0.1', '::ffff:8.8.8.8', 'fe80::1%lo', '2606:4700::1%lo', '127.1', 'example.com'])
    expect(() => checkAddress(target, address, policy)).toThrow('not public');
});

/** First and last address of each range for special purposes (IANA), and of IPv6 outside global unicast. */
const SPECIAL = [
  ['0.0.0.0', '0.255.255.255'],
  ['10.0.0.0', '10.255.255.255'],
  ['100.64.0.0', '100.127.255.255'],
  ['127.0.0.0', '127.255.255.255'],
  ['169.254.0.0', '169.254.255.255'],
  ['172.16.0.0', '172.31.255.255'],
  ['192.0.0.0', '192.0.0.255'],
  ['192.0.2.0', '192.0.2.255'],
  ['192.31.196.0', '192.31.196.255'],
  ['192.52.193.0', '192.52.193.255'],
  ['192.88.99.0', '192.88.99.255'],
  ['192.168.0.0', '192.168.255.255'],
  ['192.175.48.0', '192.175.48.255'],
  ['198.18.0.0', '198.19.255.255'],
  ['198.51.100.0', '198.51.100.255'],
  ['203.0.113.0', '203.0.113.255'],
  ['224.0.0.0', '255.255.255.255'],
  ['::', '1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['2001::', '2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['2001:db8::', '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['2002::', '2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['2620:4f:8000::', '2620:4f:8000:ffff:ffff:ffff:ffff:ffff'],
  ['3ffe::', '3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['4000::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
];
const BESIDE = ['9.255.255.255', '11.0.0.0', '100.63.255.255', '100.128.0.0', '172.15.255.255', '172.32.0.0', '192.0.1.0', '198.20.0.0', '223.255.255.255'];
const BESIDE_IPV6 = ['2000::', '2001:200::', '2001:db7:ffff::', '2001:db9::', '2003::', '2620:4f:7fff::', '2620:4f:8001::', '3ffd:ffff::', '3fff:1000::'];

test('refuses special ranges from the first address to the last, and accepts their neighbours', () => {
  const target = readTarget('https://hooks.example.com', policy);
  for (const address of SPECIAL.flat()) expect(() => checkAddress(target, address, policy)).toThrow(TargetProblem);
  for (const address of [...BESIDE, ...BESIDE_IPV6]) expect(() => checkAddress(target, address, policy)).not.toThrow();
});

test('an operator can only allow exact addresses with ports, in their usual spelling', () => {
  expect(() => checkAllowedTargets(policy.allowedTargets)).not.toThrow();
  expect(() => checkAllowedTargets(['127.0.0.1:1', '[::1]:65535'])).not.toThrow();
  for (const wrong of ['localhost:4567', '127.1:4567', '127.0.0.1', '::1:4567', '127.0.0.1:0', '127.0.0.1:65536', '127.0.0.1:70000'])
    expect(() => checkAllowedTargets([wrong])).toThrow('WEBHOOK_ALLOWED_TARGETS');
});

const METADATA = [
  ...['169.254.169.254', '169.254.170.2', '169.254.170.23', '168.63.129.16', '100.100.100.200', '192.0.0.192'],
  ...['fd00:ec2::254', 'fd00:ec2::23', 'fd20:ce::254', 'fe80::a9fe:a9fe'],
];
const CARRIED = ['::ffff:168.63.129.16', '::ffff:0:a83f:8110', '64:ff9b::a83f:8110', '64:ff9b:1::a83f:8110', '64:ff9b:1:a83f:81:1000::', '2002:a83f:8110::1'];

test.each([...METADATA, ...CARRIED])('refuses the metadata address %s even if the operator allows it', (address) => {
  const host = address.includes(':') ? `[${address}]` : address;
  const spelled = new URL(`http://${host}`).hostname;
  const open = { allowHttp: true, allowedTargets: [`${spelled}:80`], deniedTargets: [] };
  expect(() => checkAllowedTargets(open.allowedTargets)).not.toThrow();
  expect(() => readTarget(`http://${host}`, open)).toThrow('allows no webhooks');
});

test.each([
  ['203.0.113.0/24', ['203.0.113.0', '203.0.113.255', '::ffff:203.0.113.9', '64:ff9b::cb00:7109'], ['203.0.112.255', '203.0.114.0']],
  ['8.8.8.8', ['8.8.8.8'], ['8.8.8.7', '8.8.8.9']],
  // Ranges of IPv4 addresses in an IPv6 form.
  ['::ffff:203.0.113.0/120', ['203.0.113.0', '203.0.113.255', '::ffff:203.0.113.9', '64:ff9b::cb00:7109'], ['203.0.112.255', '203.0.114.0', '2606:4700::']],
  ['::ffff:0:0/96', ['8.8.8.8', '::ffff:8.8.8.8'], ['2606:4700::']],
  ['64:ff9b::203.0.113.0/120', ['203.0.113.9', '::ffff:203.0.113.9', '64:ff9b::cb00:7109', '2002:cb00:7109::'], ['203.0.114.0']],
  ['2002:cb00:7100::/40', ['203.0.113.9', '2002:cb00:7109::'], ['203.0.114.0']],
  ['64:ff9b:1:cb00:71::/80', ['203.0.113.9'], ['203.0.114.0']],
  ['::203.0.113.9', ['203.0.113.9'], ['203.0.113.8']],
  // A whole prefix means the translator, and all of IPv6 only IPv6.
  ['64:ff9b::/96', ['64:ff9b::808:808'], ['8.8.8.8']],
  ['2002::/16', ['2002:808:808::'], ['8.8.8.8']],
  ['::/0', ['2606:4700::'], ['8.8.8.8']],
  ['2606:4700::/32', ['2606:4700::', '2606:4700:ffff:ffff:ffff:ffff:ffff:ffff'], ['2606:46ff:ffff:ffff:ffff:ffff:ffff:ffff', '2606:4701::']],
] as const)('denies addresses within %s, in every form, and none outside it', (range, within, beside) => {
  const target = readTarget('https://hooks.example.com', policy);
  const denying = { ...policy, deniedTargets: parseDeniedTargets([range]) };
  for (const address of within) expect(() => checkAddress(target, address, denying)).toThrow('allows no webhooks');
  for (const address of beside) expect(() => checkAddress(target, address, denying)).not.toThrow('allows no webhooks');
});

test('an http URL needs an allowed address or an operator that allows http, also once its name is resolved', () => {
  const target = { url: new URL('http://hooks.example.com/'), host: 'hooks.example.com', port: 80, isAddress: false };
  const check = (more: Partial<typeof policy>) => () => checkAddress(target, '93.184.215.14', { ...policy, ...more });
  expect(check({})).toThrow('begins with https://');
  expect(check({ allowHttp: true })).not.toThrow();
  expect(check({ allowedTargets: ['93.184.215.14:80'] })).not.toThrow();
  expect(check({ allowedTargets: ['93.184.215.14:81', '93.184.215.15:80'] })).toThrow('begins with https://');
});

test('a denied range is an address or a CIDR range that begins at its first address', () => {
  const right = ['203.0.113.7', '203.0.113.7/32', '198.51.100.0/24', '0.0.0.0/0', '::1', '::1/128', '2001:db8::/32', '::/0'];
  expect(() => parseDeniedTargets(right)).not.toThrow();
  for (const wrong of ['sink.example.com', '10.1/16', '10.0.0.0/33', '10.0.0.0/', '10.0.0.0/08', '::/129', '10.0.0.0/8/8', '127.0.0.1:80', 'fe80::1%lo', '']) {
    expect(() => parseDeniedTargets([wrong])).toThrow(
      `WEBHOOK_DENIED_TARGETS must be addresses or CIDR ranges, such as 203.0.113.7,198.51.100.0/24,2001:db8::/32: "${wrong}"`,
    );
  }
  expect(() => parseDeniedTargets(['10.1.2.3/8'])).toThrow('"10.1.2.3/8" has bits set beyond its prefix: 10.0.0.0/8 is the range');
  expect(() => parseDeniedTargets(['2001:db8::1/32'])).toThrow('2001:db8::/32 is the range');
});
