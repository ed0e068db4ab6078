// Answers to requests with faults: each names all of them at once, with the remedy (decisions §3).
import { randomUUID } from 'node:crypto';
import { startSystem, type System, type TestCompany } from './support/system.ts';
import { CREATE, HOOKS, webhooksApi, type WebhooksApi } from './support/webhooks-api.ts';

const KEYS = '/api/v1/integrations/api-keys';

let system: System;
let company: TestCompany;
let endpoint: WebhooksApi['endpoint'];
beforeAll(async () => {
  system = await startSystem();
  company = await system.createCompany();
  ({ endpoint } = webhooksApi(system, company));
}, 60_000);
afterAll(() => system.stop());

interface Detail {
  location: string;
  field: string;
  code: string;
  message: string;
}

async function details(verb: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Detail[]> {
  const response = await fetch(`${system.baseUrl}${path}`, {
    method: verb,
    headers: {
      authorization: `Bearer ${path.startsWith('/api/') ? system.userToken(company) : company.apiKey}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const { error } = (await response.json()) as { error?: { details: Detail[] } };
  expect([path, response.status]).toEqual([path, error === undefined ? response.status : 400]);
  return error?.details ?? [];
}

const fieldsOf = (found: readonly Detail[]): string[] => found.map(({ field, code }) => `${field} ${code}`).toSorted();

const webhook = {
  name: '\u200b',
  url: 'http://127.0.0.1:9/',
  eventTypes: ['service_request.created'],
  filter: { status: { $eq: 'LOST' }, outcome: { $exists: true } },
  alertEmails: ['unknown@example.com', 'not an address'],
  headers: [{ name: 'Host', value: 'x' }, { name: 'X-New' }, { name: 'X-Text', value: 7 }, { name: 'X-Long', value: 'x'.repeat(4096) }],
  maxPerSecond: 0,
  state: 'PAUSED',
  enabled: true,
  colour: 'red',
};
const ofWebhook = [
  'alertEmails[0] INVALID_FORMAT',
  'alertEmails[1] INVALID_FORMAT',
  'colour UNKNOWN_FIELD',
  'enabled INVALID_FORMAT',
  'filter.outcome UNKNOWN_FIELD',
  'filter.status.$eq INVALID_ENUM_VALUE',
  'headers TOO_LARGE',
  'headers[0].name INVALID_FORMAT',
  'headers[1].value MISSING',
  'headers[2].value INVALID_FORMAT',
  'maxPerSecond OUT_OF_RANGE',
  'name INVALID_FORMAT',
  'url INVALID_FORMAT',
  'url INVALID_FORMAT',
];

/** A body with every fault that the write knows, and all that its answer must name. */
const WRITES: Record<string, [verb: string, path: () => Promise<string>, body: object | string, expected: string[]]> = {
  'creating a webhook': ['POST', async () => HOOKS, webhook, ofWebhook],
  'creating a webhook whose fields are right one by one': [
    'POST',
    async () => HOOKS,
    {
      ...CREATE,
      url: 'https://10.0.0.1/',
      filter: { statu: {} },
      alertEmails: ['unknown@example.com'],
      headers: [{ name: 'X-New' }, { name: 'Host', value: 'x' }],
    },
    ['alertEmails[0] INVALID_FORMAT', 'filter.statu UNKNOWN_FIELD', 'headers[0].value MISSING', 'headers[1].name INVALID_FORMAT', 'url INVALID_FORMAT'],
  ],
  'changing a webhook': [
    'PATCH',
    async () => `${HOOKS}/${(await endpoint()).id}`,
    { ...webhook, resumeSkipped: true },
    [...ofWebhook, 'resumeSkipped INVALID_FORMAT'].toSorted(),
  ],
  'changing a webhook whose fields are right one by one': [
    'PATCH',
    async () => `${HOOKS}/${(await endpoint({ headers: [{ name: 'X-Key', value: 'a' }], filter: { status: { $eq: 'NEW' } } })).id}`,
    {
      url: 'https://10.0.0.1/',
      eventTypes: ['interaction.completed'],
      filter: { nope: {} },
      alertEmails: ['unknown@example.com'],
      headers: [{ name: 'X-Key' }],
    },
    ['alertEmails[0] INVALID_FORMAT', 'filter.nope UNKNOWN_FIELD', 'headers[0].value MISSING', 'url INVALID_FORMAT'],
  ],
  'trying a filter': [
    'POST',
    async () => `${HOOKS}/filter-preview`,
    { eventTypes: ['service_request.created'], filter: webhook.filter, colour: 'red' },
    ['colour UNKNOWN_FIELD', 'filter.outcome UNKNOWN_FIELD', 'filter.status.$eq INVALID_ENUM_VALUE'],
  ],
  'creating a webhook for an unknown type': [
    'POST',
    async () => HOOKS,
    { ...CREATE, url: 'http://a:b@10.0.0.1/#x', eventTypes: ['nope'], filter: { status: { $bar: 1 }, colour: { $exists: true } } },
    ['eventTypes[0] INVALID_ENUM_VALUE', 'filter.colour UNKNOWN_FIELD', 'filter.status.$bar UNKNOWN_FIELD', ...Array<string>(4).fill('url INVALID_FORMAT')],
  ],
  'creating a webhook whose filter nothing can fulfil': [
    'POST',
    async () => HOOKS,
    { ...CREATE, eventTypes: ['service_request.created'], filter: { status: { $eq: 'BOOKED' }, job_id: { $exists: true }, colour: {} } },
    ['filter.colour UNKNOWN_FIELD', 'filter.job_id OUT_OF_RANGE', 'filter.status OUT_OF_RANGE'],
  ],
  'trying a filter with a number that is too large': [
    'POST',
    async () => `${HOOKS}/filter-preview`,
    '{"eventTypes":["interaction.completed"],"filter":{"duration_seconds":{"$gt":1e999},"colour":{}}}',
    ['filter.colour UNKNOWN_FIELD', 'filter.duration_seconds.$gt OUT_OF_RANGE'],
  ],
  'testing a webhook': [
    'POST',
    async () => `${HOOKS}/no-id/test`,
    { eventType: 'job.moved', colour: 'red' },
    ['colour UNKNOWN_FIELD', 'eventType INVALID_ENUM_VALUE', 'id INVALID_UUID'],
  ],
  'recovering events': [
    'POST',
    async () => `${HOOKS}/no-id/recover`,
    { since: '2026-03-02T00:00:00Z', until: '2026-03-01T00:00:00Z', include: 'SOME', colour: 'red' },
    ['colour UNKNOWN_FIELD', 'id INVALID_UUID', 'include INVALID_ENUM_VALUE', 'until RANGE_ORDER'],
  ],
  'repeating deliveries': [
    'POST',
    async () => `${HOOKS}/no-id/redeliver`,
    { deliveryIds: ['a', randomUUID(), 7], colour: 'red' },
    ['colour UNKNOWN_FIELD', 'deliveryIds[0] INVALID_UUID', 'deliveryIds[2] INVALID_UUID', 'webhookId INVALID_UUID'],
  ],
  'creating a key': [
    'POST',
    async () => KEYS,
    { name: ' ', expiresAt: '2020-01-01T00:00:00Z', colour: 'red' },
    ['colour UNKNOWN_FIELD', 'expiresAt OUT_OF_RANGE', 'name INVALID_FORMAT'],
  ],
  'rotating a key': ['POST', async () => `${KEYS}/no-id/rotate`, { colour: 'red', size: 1 }, ['colour UNKNOWN_FIELD', 'id INVALID_UUID', 'size UNKNOWN_FIELD']],
  'saving a view': [
    'PUT',
    async () => `/api/v1/integrations/views/${'x'.repeat(101)}?colour=red`,
    { query: 'two\nlines', shared: 'yes', colour: 'red' },
    ['colour UNKNOWN_FIELD', 'colour UNKNOWN_PARAMETER', 'name OUT_OF_RANGE', 'query INVALID_FORMAT', 'shared INVALID_FORMAT'],
  ],
  'adding a technician': [
    'POST',
    async () => '/v1/job-assignments?colour=red',
    {
      expected_revision: 'x',
      appointment_id: 'x',
      starts_at: '2026-03-02T16:00:00Z',
      ends_at: '2026-03-02T14:00:00Z',
      allow_outside_window: 1,
      customer_notification: { contact_id: 'x', message: 'x'.repeat(501) },
      colour: 'red',
    },
    [
      'Idempotency-Key MISSING',
      'allow_outside_window INVALID_FORMAT',
      'appointment_id INVALID_UUID',
      'colour UNKNOWN_FIELD',
      'colour UNKNOWN_PARAMETER',
      'customer_notification.contact_id INVALID_UUID',
      'customer_notification.message OUT_OF_RANGE',
      'ends_at RANGE_ORDER',
      'expected_revision INVALID_FORMAT',
      'team_member_id MISSING',
    ],
  ],
  'removing a technician': [
    'DELETE',
    async () => '/v1/job-assignments/no-id',
    { expected_revision: 'x', customer_notification: [], colour: 'red' },
    ['Idempotency-Key MISSING', 'colour UNKNOWN_FIELD', 'customer_notification INVALID_FORMAT', 'expected_revision INVALID_FORMAT', 'id INVALID_UUID'],
  ],
};

test.each(Object.entries(WRITES))('%s names all faults of a body at once', async (_, [verb, path, body, expected]) => {
  expect(fieldsOf(await details(verb, await path(), body))).toEqual(expected);
});
