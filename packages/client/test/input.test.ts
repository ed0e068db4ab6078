// What callers give: numbers, filters and dates.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createClient, type Client, type ClientOptions } from '../src/index.ts';

const ID = '0b8f3c1e-7a52-4c6d-9e10-2f4a5b6c7d8e';
const AT = new Date('2026-03-01T00:00:00+01:00');

/** A client whose requests are noted. */
function noting(options: Partial<ClientOptions> = {}) {
  const asked: string[] = [];
  const fetch = async (url: string, { body }: RequestInit) => {
    asked.push([url.slice('https://x'.length), body as string].filter(Boolean).join(' '));
    return Response.json({ data: [], nextCursor: 'c', hasMore: false });
  };
  return { client: createClient({ baseUrl: 'https://x', token: 't', fetch, ...options }), asked };
}

test.each<[string, (client: Client) => Promise<unknown>]>([
  ['status', (client) => client.invoices.list({ status: [] }).next()],
  ['status', (client) => client.invoices.list({ status: [undefined as never] }).next()],
  ['ids', (client) => client.get('/v1/invoices', { query: { ids: [] } })],
  ['kinds', (client) => client.changes({ kinds: [] }).next()],
])('refuses an empty list as the filter %s, which would let everything through', async (name, call) => {
  const { client, asked } = noting();
  await expect(call(client)).rejects.toThrow(new TypeError(`${name} is an empty list: give at least one value, or leave it out.`));
  expect(asked).toEqual([]);
});

test('leaves out filters that are undefined', async () => {
  const { client, asked } = noting();
  const given: { from?: string } = {};
  await client.invoices.list({ created_from: given.from as never, status: ['OPEN'] }).next();
  expect(asked).toEqual(['/v1/invoices?status=OPEN']);
});

test('takes a Date for an instant, in filters and bodies', async () => {
  const { client, asked } = noting();
  await client.invoices.list({ created_from: AT, created_before: '2026-03-02T00:00:00Z' }).next();
  await client.jobAssignments.create({ expected_revision: 'r', appointment_id: ID, team_member_id: ID, starts_at: AT, ends_at: AT });
  await client.apiKeys.create({ name: 'Nightly', expiresAt: AT });
  // @ts-expect-error A day has no moment.
  client.reports.collections({ start_date: AT, end_date: '2026-04-01' });
  expect(asked).toEqual([
    '/v1/invoices?created_from=2026-02-28T23%3A00%3A00.000Z&created_before=2026-03-02T00%3A00%3A00Z',
    expect.stringContaining('"starts_at":"2026-02-28T23:00:00.000Z"'),
    '/api/v1/integrations/api-keys {"name":"Nightly","expiresAt":"2026-02-28T23:00:00.000Z"}',
  ]);
});

test('refuses an invalid Date, which JSON would write as null', async () => {
  const { client, asked } = noting();
  await expect(client.invoices.list({ created_from: new Date('x') }).next()).rejects.toThrow('created_from is an invalid Date.');
  await expect(client.apiKeys.create({ name: 'Nightly', expiresAt: new Date('x') })).rejects.toThrow('expiresAt is an invalid Date.');
  expect(asked).toEqual([]);
});

test.each([
  ['timeoutMs', 0, 'from 1 to 2000000000: got 0.'],
  ['timeoutMs', NaN, 'from 1 to 2000000000: got NaN.'],
  ['timeoutMs', Infinity, 'from 1 to 2000000000: got Infinity.'],
  ['timeoutMs', '5000', 'from 1 to 2000000000: got 5000.'],
  ['retries', -1, 'from 0: got -1.'],
  ['retries', NaN, 'from 0: got NaN.'],
  ['longestWaitSeconds', -1, 'from 0 to 2000000: got -1.'],
  ['longestWaitSeconds', Infinity, 'from 0 to 2000000: got Infinity.'],
])('refuses %s %p for a client and for a call', async (name, value, range) => {
  const refusal = new TypeError(`${name} must be a number ${range}`);
  expect(() => createClient({ baseUrl: 'https://x', token: 't', [name]: value })).toThrow(refusal);
  if (name === 'longestWaitSeconds') return;
  const { client, asked } = noting();
  await expect(client.company.get({ [name]: value })).rejects.toThrow(refusal);
  await expect(client.changes({ [name]: value }).next()).rejects.toThrow(refusal);
  expect(asked).toEqual([]);
});

test.each([-1, 31, NaN])('refuses to hold a poll for %p seconds', async (waitSeconds) => {
  await expect(noting().client.changes({ waitSeconds }).next()).rejects.toThrow(`waitSeconds must be a number from 0 to 30: got ${waitSeconds}.`);
});

test('waits after each empty page that it follows without holding polls', async () => {
  const { client, asked } = noting();
  jest.useFakeTimers();
  try {
    const pages = client.changes({ follow: true, waitSeconds: 0 });
    await pages.next();
    const second = pages.next();
    await jest.advanceTimersByTimeAsync(500);
    expect(asked).toHaveLength(1);
    await jest.advanceTimersByTimeAsync(500);
    await second;
    expect(asked).toHaveLength(2);
  } finally {
    jest.useRealTimers();
  }
});

test('takes the largest and the smallest numbers, and parts of a millisecond', async () => {
  for (const options of [
    { timeoutMs: 2_000_000_000, retries: Infinity, longestWaitSeconds: 2_000_000 },
    { timeoutMs: 1.5, retries: 0, longestWaitSeconds: 0 },
  ]) {
    const { client, asked } = noting(options);
    await client.company.get();
    expect(asked).toHaveLength(1);
  }
});

describe('the error of a failed connection says why', () => {
  let server: Server | undefined;
  afterEach(() => void server?.close());

  const failing = async (options: Partial<ClientOptions>): Promise<string> =>
    createClient({ baseUrl: 'https://x', token: 't', retries: 0, ...options })
      .company.get()
      .then(
        () => 'it did not fail',
        ({ message }: Error) => message,
      );

  test('where nothing listens', async () => {
    server = createServer();
    await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server?.close(resolve));
    const baseUrl = `http://127.0.0.1:${port}`;
    expect(await failing({ baseUrl })).toBe(`GET ${baseUrl}/v1/company had no whole answer: the connection failed (connect ECONNREFUSED 127.0.0.1:${port}).`);
  });

  test.each([
    [new TypeError('Failed to fetch'), 'Failed to fetch'],
    [undefined, 'undefined'],
    ['the proxy is away', 'the proxy is away'],
    [new TypeError(''), 'TypeError'],
    [new TypeError('fetch failed', { cause: Object.assign(new Error('other side closed'), { code: 'UND_ERR_SOCKET' }) }), 'other side closed (UND_ERR_SOCKET)'],
    [
      new TypeError('fetch failed', {
        cause: new AggregateError([new Error('connect ECONNREFUSED ::1:8080'), new Error('connect ECONNREFUSED 127.0.0.1:8080')]),
      }),
      'connect ECONNREFUSED ::1:8080',
    ],
  ])('of %p', async (error, reason) => {
    expect(await failing({ fetch: () => Promise.reject(error) })).toBe(`GET https://x/v1/company had no whole answer: the connection failed (${reason}).`);
  });
});
