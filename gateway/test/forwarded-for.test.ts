// The address of a client behind proxies, which write X-Forwarded-For in many ways.
import { generateApiKey } from '@truckroll/contract';
import { request, startGateway, type TestGateway } from './support/gateway.ts';
import { standInCommands, type Commands } from './support/stand-ins.ts';

const PEER = '127.0.0.1';
const REMOVAL = '/v1/job-assignments/0b8f3c1e-7a52-4c6d-9e10-2f4a5b6c7d8e';

let commands: Commands;
let gateway: TestGateway | undefined;
beforeAll(async () => void (commands = await standInCommands()));
afterAll(() => commands.stop());
afterEach(async () => {
  await gateway?.stop();
  gateway = undefined;
});

/** The address that a service gets for the audit trail with a write. */
async function addressOf(forwarded: string): Promise<string | null | undefined> {
  const headers = { 'content-type': 'application/json', 'idempotency-key': 'key-12345', 'x-forwarded-for': forwarded };
  await gateway!.get(REMOVAL, { method: 'DELETE', headers, body: JSON.stringify({ expected_revision: 'ab'.repeat(32) }) });
  return commands.removed.pop()?.caller?.address;
}

test('is the address in the entry of the last trusted proxy, or the proxy’s where the entry is no address', async () => {
  gateway = await startGateway({ TRUSTED_PROXIES: '1', SCHEDULING_ADDRESS: `127.0.0.1:${commands.port}` });
  const rows: [forwarded: string, address: string][] = [
    ['198.51.100.21:51008', '198.51.100.21'],
    ['[2001:db8::7]:443', '2001:db8::7'],
    ['[2001:db8::7]', '2001:db8::7'],
    ['[2001:db8::7]:', '2001:db8::7'],
    ['"198.51.100.7"', '198.51.100.7'],
    ['"[2001:DB8:0::7]:443"', '2001:db8::7'],
    ['unknown', PEER],
    ['_hidden', PEER],
    ['', PEER],
    [',', PEER],
    ['198.51.100.21, ', PEER],
    ['999.1.1.1', PEER],
    ['198.51.100.21:51008:1', PEER],
    ['[198.51.100.21', PEER],
    ['2001:db8::7:443:x', PEER],
    ['client.example.com', PEER],
    ['::ffff:198.51.100.9', '198.51.100.9'],
    ['[::ffff:c633:6409]:443', '198.51.100.9'],
    ['2001:db8::1%eth0', '2001:db8::1'],
    ['unknown, 198.51.100.21', '198.51.100.21'],
    ['198.51.100.1,198.51.100.21:80', '198.51.100.21'],
  ];
  for (const [forwarded, address] of rows) expect([forwarded, await addressOf(forwarded)]).toEqual([forwarded, address]);
});

test('is looked for behind trusted networks, whose entries may have ports too', async () => {
  gateway = await startGateway({ TRUSTED_PROXIES: '127.0.0.0/8,10.0.0.0/8,fd00::/8', SCHEDULING_ADDRESS: `127.0.0.1:${commands.port}` });
  const rows: [forwarded: string, address: string][] = [
    ['198.51.100.1, 198.51.100.21:51008, 10.1.2.3:80', '198.51.100.21'],
    ['198.51.100.1, 2001:db8::7, [fd00::1]:443, ::ffff:10.0.0.9', '2001:db8::7'],
    ['10.0.0.7, 10.0.0.8', '10.0.0.7'],
    ['198.51.100.21, unknown, 10.1.2.3', PEER],
  ];
  for (const [forwarded, address] of rows) expect([forwarded, await addressOf(forwarded)]).toEqual([forwarded, address]);
});

test.each([
  ['a port', (n: number) => `198.51.100.21:${50_000 + n}`],
  ['brackets and a port', (n: number) => `[2001:db8::${n}]:${50_000 + n}`],
  ['quotes', (n: number) => (n === 0 ? '198.51.100.7' : '"198.51.100.7"')],
  ['what no address is', (n: number) => `unknown-${n}`],
])('counts as one for limits, with %s', async (_, forwarded) => {
  gateway = await startGateway({ TRUSTED_PROXIES: '1', UNKNOWN_KEYS_PER_MINUTE: '2', PUBLIC_PAGES_PER_MINUTE: '2' });
  const statuses = async (path: string): Promise<number[]> => {
    const answers = [];
    for (let n = 0; n < 3; n += 1) {
      const headers = { authorization: `Bearer ${generateApiKey()}`, 'x-forwarded-for': forwarded(n) };
      answers.push((await request(gateway!.url + path, { headers })).status);
    }
    return answers;
  };
  expect([await statuses('/v1/invoices'), await statuses('/openapi.json')]).toEqual([
    [401, 401, 429],
    [200, 200, 429],
  ]);
});
