// Holds the fixed values of docs/api.md, read from its tables, against the running gateway and the description that it serves.
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { startSystem, type System, type TestCompany } from './support/system.ts';

const specification = readFileSync(new URL('../docs/api.md', import.meta.url), 'utf8');

/** The body rows of the table with this header, cell by cell. */
function table(header: string): string[][] {
  const lines = specification.split('\n');
  const rows = lines.slice(lines.indexOf(header) + 2);
  return rows.slice(0, rows.indexOf('')).map((row) =>
    row
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim()),
  );
}

const number = (text: string): number => Number(/\d+/.exec(text)?.[0]);
const numbers = (text: string): [number, number] => text.match(/\d+/g)!.map(Number) as [number, number];

let system: System;
let company: TestCompany;
let description: any;
beforeAll(async () => {
  system = await startSystem();
  company = await system.createCompany();
  description = await (await fetch(`${system.baseUrl}/openapi.json`)).json();
}, 60_000);
afterAll(() => system.stop());

/** The fields that the answer names, of a query or of a write with otherwise valid fields. */
async function refusals(path: string, body?: unknown, headers: Record<string, string> = {}): Promise<string[]> {
  const credential = path.startsWith('/api/') ? system.userToken(company) : company.apiKey;
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const response = await fetch(`${system.baseUrl}${path}`, {
    headers: { authorization: `Bearer ${credential}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { method: 'POST', body: text }),
  });
  const { error } = (await response.json()) as { error?: { details: { field: string }[] } };
  return error?.details.map(({ field }) => field) ?? [];
}

const HOOK = { name: 'Lead sync', url: 'https://example.com/hook', eventTypes: ['service_request.created'] };
const hook = (fields: object): Promise<string[]> => refusals('/api/v1/integrations/webhooks', { ...HOOK, ...fields });
const assign = (fields: object, key: string = randomUUID()): Promise<string[]> =>
  refusals(
    '/v1/job-assignments',
    {
      expected_revision: '0'.repeat(64),
      appointment_id: randomUUID(),
      team_member_id: randomUUID(),
      starts_at: '2026-03-02T14:00:00Z',
      ends_at: '2026-03-02T16:00:00Z',
      ...fields,
    },
    { 'idempotency-key': key },
  );

/** Exercises each limit of the table on both sides of its value; resolves to what was refused, and what had to be. */
const PROBES: Record<string, (value: string) => Promise<[found: unknown, expected: unknown]>> = {
  'Default page size': async (value) => {
    const tags = Array.from({ length: number(value) + 1 }, (_, i) => tag(`Tag ${i}`));
    await system.importRecords(company, 'tags', tags);
    return [(await system.get(company, '/v1/tags')).body.data.length, number(value)];
  },
  'Maximum page size': async (value) => [
    [await refusals(`/v1/tags?limit=${number(value)}`), await refusals(`/v1/tags?limit=${number(value) + 1}`)],
    [[], ['limit']],
  ],
  'Minimum page size': async (value) => [
    [await refusals(`/v1/tags?limit=${number(value)}`), await refusals(`/v1/tags?limit=${number(value) - 1}`)],
    [[], ['limit']],
  ],
  'IDs per `ids` filter': async (value) => {
    const ids = (count: number): Promise<string[]> => refusals(`/v1/tags?${Array.from({ length: count }, () => `ids=${randomUUID()}`).join('&')}`);
    const [least, most] = numbers(value);
    return [
      [await ids(least), await ids(most), await ids(most + 1), await refusals('/v1/tags?ids=')],
      [[], [], ['ids'], ['ids']],
    ];
  },
  'Request body size': async (value) => {
    const bytes = number(value) * 1024;
    const sized = (size: number): string => JSON.stringify(HOOK).padEnd(size);
    const path = '/api/v1/integrations/webhooks';
    return [
      [await refusals(path, sized(bytes)), await refusals(path, sized(bytes + 1))],
      [[], ['body']],
    ];
  },
  'Idempotency-Key': async (value) => {
    const [least, most] = numbers(value);
    const keys = ['a'.repeat(least), 'Z9_-'.repeat(most / 4), 'a'.repeat(least - 1), 'a'.repeat(most + 1), 'with space', 'with.dots'];
    return [await Promise.all(keys.map((key) => assign({}, key))), [[], [], ...Array<string[]>(4).fill(['Idempotency-Key'])]];
  },
  expected_revision: async (value) => {
    const length = number(value);
    const texts = ['0a'.repeat(length / 2), '0'.repeat(length - 1), '0'.repeat(length + 1), 'A'.repeat(length), 'g'.repeat(length)];
    return [await Promise.all(texts.map((text) => assign({ expected_revision: text }))), [[], ...Array<string[]>(4).fill(['expected_revision'])]];
  },
  'Write timestamp fraction': async (value) => {
    const at = (digits: number): Promise<string[]> => assign({ starts_at: `2026-03-02T14:00:00.${'1'.repeat(digits)}Z` });
    return [
      [await at(number(value)), await at(number(value) + 1)],
      [[], ['starts_at']],
    ];
  },
  'Cent amounts': async (value) => {
    const { minimum, maximum } = description.components.schemas.Payment.properties.amount_cents;
    return [
      [minimum, maximum],
      [-number(value), number(value)],
    ];
  },
  'Webhook name': async (value) => {
    const [least, most] = numbers(value);
    return [
      [await hook({ name: 'x'.repeat(least) }), await hook({ name: 'x'.repeat(most) }), await hook({ name: '' }), await hook({ name: 'x'.repeat(most + 1) })],
      [[], [], ['name'], ['name']],
    ];
  },
  'Webhook url': async (value) => {
    const [, most] = numbers(value);
    const url = (length: number): string => HOOK.url.padEnd(length, 'x');
    return [
      [await hook({ url: url(most) }), await hook({ url: url(most + 1) }), await hook({ url: '' })],
      [[], ['url'], ['url']],
    ];
  },
  'Webhook eventTypes': async (value) => [
    [await hook({ eventTypes: HOOK.eventTypes.slice(0, number(value)) }), await hook({ eventTypes: [] })],
    [[], ['eventTypes']],
  ],
};

const tag = (name: string): object => ({
  id: randomUUID(),
  name,
  color: null,
  applies_to: ['JOB'],
  archived_at: null,
  created_at: '2026-03-01T00:00:00Z',
  updated_at: '2026-03-01T00:00:00Z',
});

describe('the gateway keeps the limit', () => {
  test.each(table('| Limit | Value |').map(([name, value]) => [name!, value!] as const))('%s: %s', async (name, value) => {
    const [found, expected] = await PROBES[name]!(value);
    expect(found).toEqual(expected);
  });
});

describe('the description that the gateway serves', () => {
  test('carries the version of the specification, and the release next to it', () => {
    const [, version] = /machine-readable description carries version (\S+)\.\n/.exec(specification)!;
    const release = (JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }).version;
    expect(description.info).toMatchObject({ version, 'x-release': release });
  });

  test.each(table('| Enumeration | Values |').map(([name, values]) => [name!, values!.replace(/ \(.*/, '').split(', ')] as const))(
    'has the values of %s',
    (name, values) => {
      expect(description.components.schemas[name].enum).toEqual(values);
    },
  );

  test('has every operation of the specification', () => {
    for (const [method = '', path = ''] of table('| Method | Path | Request | Response |')) {
      const route = path.startsWith('{integrations_url}') ? path.replace('{integrations_url}', '/api/v1') : `/v1${path}`;
      expect([route, Object.keys(description.paths[route] ?? {})]).toEqual([route, expect.arrayContaining([method.toLowerCase()])]);
    }
  });

  test('has every error code', () => {
    const codes = table('| Code | Condition | HTTP status |').map(([code]) => code);
    expect(description.components.schemas.ApiError.properties.code.enum).toEqual(expect.arrayContaining(codes));
  });

  test('has exactly the event types', async () => {
    const types = table('| Event type |').map(([type]) => type);
    const subscribed = description.components.schemas.CreateWebhookRequest.properties.eventTypes.items;
    expect(subscribed.enum ?? description.components.schemas[subscribed.$ref.split('/').at(-1)].enum).toEqual(types);
    const listed = await system.get(company, '/api/v1/integrations/webhook-event-types');
    expect(listed.body.data.map(({ type }: { type: string }) => type)).toEqual(types);
  });
});
