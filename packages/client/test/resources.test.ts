// The methods of resources, and what errors say.
import { readFileSync } from 'node:fs';
import { createClient, type Client, type ClientOptions } from '../src/index.ts';

const document = JSON.parse(readFileSync(new URL('../../../gateway/openapi.json', import.meta.url), 'utf8'));
const ID = '0b8f3c1e-7a52-4c6d-9e10-2f4a5b6c7d8e';

/** A client whose requests are noted and answered by `answer`. */
function noting(answer: () => Response = () => Response.json({ data: {} }), options: Partial<ClientOptions> = {}) {
  const asked: string[] = [];
  const fetch = async (url: string, { method, body, headers }: RequestInit) => {
    const key = new Headers(headers).get('idempotency-key');
    asked.push([method, url.slice('https://x'.length), body as string, key].filter(Boolean).join(' '));
    return answer();
  };
  return { client: createClient({ baseUrl: 'https://x', token: 't', fetch, ...options }), asked };
}

const assignment = { expected_revision: 'r', appointment_id: ID, team_member_id: ID, starts_at: '2026-03-02T15:00:00Z', ends_at: '2026-03-02T16:00:00Z' };

test.each<[string, (client: Client) => Promise<unknown>]>([
  [`GET /v1/invoices/${ID}`, (client) => client.invoices.get(ID)],
  ['GET /v1/company', (client) => client.company.get()],
  ['GET /api/v1/me', (client) => client.me.get()],
  [`GET /v1/job-classes/SERVICE%2FX`, (client) => client.jobClasses.get('SERVICE/X')],
  [`POST /v1/job-assignments ${JSON.stringify(assignment)} key-1`, (client) => client.jobAssignments.create(assignment, { idempotencyKey: 'key-1' })],
  [
    `DELETE /v1/job-assignments/${ID} {"expected_revision":"r"} key-2`,
    (client) => client.jobAssignments.delete(ID, { expected_revision: 'r' }, { idempotencyKey: 'key-2' }),
  ],
  [`PATCH /api/v1/integrations/webhooks/${ID} {"enabled":false}`, (client) => client.webhooks.update(ID, { enabled: false })],
  [`POST /api/v1/integrations/webhooks/${ID}/test`, (client) => client.webhooks.test(ID)],
  [`POST /api/v1/integrations/webhooks/${ID}/rotate-secret`, (client) => client.webhooks.rotateSecret(ID, { timeoutMs: 5000 })],
  [`POST /api/v1/integrations/webhooks/${ID}/deliveries/d/redeliver`, (client) => client.webhooks.deliveries.redeliver(ID, 'd')],
])('sends %s', async (expected, call) => {
  const { client, asked } = noting();
  await call(client);
  expect(asked).toEqual([expected]);
});

test('has a method for every operation outside the change feed', () => {
  const { client } = noting();
  const count = (node: object): number =>
    Object.values(node).reduce<number>((sum, each) => sum + (typeof each === 'function' ? 1 : typeof each === 'object' ? count(each) : 0), 0);
  const own = Object.values(client).filter((each) => typeof each === 'function').length;
  const described = Object.entries<object>(document.paths).filter(([path]) => !path.startsWith('/api/v1/integrations/changes'));
  expect(count(client) - own).toBe(described.reduce((sum, [, verbs]) => sum + Object.keys(verbs).length, 0));
});

test('a list iterates over the records of all pages, and its `pages` over the pages', async () => {
  let answers = 0;
  const { client, asked } = noting(() =>
    Response.json({ data: [{ id: String((answers += 1)) }], pagination: { next_cursor: answers % 2 === 1 ? 'more' : null } }),
  );
  const [ids, pages]: [string[], number[]] = [[], []];
  for await (const { id } of client.invoices.list({ status: ['OPEN', 'PAID'] })) ids.push(id);
  for await (const { data } of client.webhooks.deliveries.list(ID).pages()) pages.push(data.length);
  expect([ids, pages]).toEqual([
    ['1', '2'],
    [1, 1],
  ]);
  const deliveries = `GET /api/v1/integrations/webhooks/${ID}/deliveries`;
  expect(asked).toEqual([
    'GET /v1/invoices?status=OPEN&status=PAID',
    'GET /v1/invoices?status=OPEN&status=PAID&cursor=more',
    deliveries,
    `${deliveries}?cursor=more`,
  ]);
});

test('a missing id is an error before anything is sent: the path would be that of the list', async () => {
  const { client, asked } = noting();
  await expect(client.invoices.get('')).rejects.toThrow('/v1/invoices/{id} needs id.');
  expect(asked).toEqual([]);
});

test.each([
  [0, 1],
  [2, 3],
])('a call with `retries` %i is sent %i times', async (retries, times) => {
  const { client, asked } = noting(() => new Response('', { status: 503, headers: { 'retry-after': '0' } }));
  await expect(client.company.get({ retries })).rejects.toThrow();
  expect(asked).toHaveLength(times);
  // A list without filters takes the options where others take the filters.
  await expect(client.webhooks.list({ retries }).next()).rejects.toThrow();
  expect(asked).toHaveLength(2 * times);
});

const detail = (field: string) => ({ location: 'query', field, code: 'OUT_OF_RANGE', message: 'Give 1 to 100.' });
const refused = (...fields: string[]) =>
  Response.json({ error: { code: 'INVALID_REQUEST', message: 'The request is not valid.', request_id: 'r', details: fields.map(detail) } }, { status: 400 });

test.each([
  ['its first detail', () => refused('limit'), 'The request is not valid. query limit: Give 1 to 100.'],
  ['how many others there are', () => refused('limit', 'a', 'b'), 'The request is not valid. query limit: Give 1 to 100. (and 2 more, in details)'],
  [
    'the address of a page, which is no API',
    () => new Response('<h1>Welcome</h1>', { headers: { 'content-type': 'text/html; charset=utf-8' } }),
    'GET https://x/v1/company was answered 200 with text/html, not by Truckroll. Check that baseUrl is the address of the API, without a page.',
  ],
  [
    'the address of another server',
    () => Response.json({ message: 'no Route matched' }, { status: 404 }),
    'GET https://x/v1/company was answered 404 with application/json, not by Truckroll. Check that baseUrl is the address of the API, without a page.',
  ],
  [
    'that a proxy may be away from the API',
    () => new Response(null, { status: 502 }),
    'GET https://x/v1/company was answered 502 with no content type, not by Truckroll. A proxy in between may have sent it.',
  ],
])('an error says %s', async (_, answer, message) => {
  await expect(noting(answer, { retries: 0 }).client.company.get()).rejects.toThrow(new Error(message));
});

test('`kinds` narrows the changes that a feed yields', async () => {
  const change = { kind: 'payments', id: ID, change: 'UPSERTED', record: { amount_cents: 5 } };
  const { client } = noting(() => Response.json({ data: [change], nextCursor: 'c', hasMore: false, asOf: '' }));
  for await (const { data } of client.changes({ kinds: ['payments', 'refunds'] })) {
    for (const each of data) {
      const kind: 'payments' | 'refunds' = each.kind;
      // @ts-expect-error Only the kinds of the call are expected.
      const never = each.kind === 'invoices';
      expect([kind, never, each.record?.amount_cents]).toEqual(['payments', false, 5]);
    }
  }
  expect.assertions(1);
});
