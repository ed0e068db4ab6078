import { refuseBroken, refused, requestCheck, type ApiError } from '../src/index.ts';

const COMPANY = '0b8f3c1e-7a52-4c6d-9e10-2f4a5b6c7d8e';

function detailsOf(work: () => unknown): string[] {
  try {
    work();
  } catch (error) {
    const { code, details } = error as ApiError;
    expect(code).toBe('INVALID_REQUEST');
    return details.map(({ location, field, code: of }) => `${location} ${field} ${of}`);
  }
  return [];
}

const webhooks = requestCheck('truckroll.integrations.v1');
const named = requestCheck('truckroll.integrations.v1', { namedValues: true });

const endpoint = (fields: object = {}) => ({
  caller: undefined,
  id: COMPANY.toUpperCase(),
  name: 'Hooks',
  url: null,
  event_types: { values: ['interaction.completed'] },
  enabled: null,
  state: null,
  resume_skipped: null,
  max_per_second: 5,
  headers: null,
  filter: null,
  alert_emails: null,
  ...fields,
});

test('returns a request that is fine, with its ids in lower case', () => {
  const request = endpoint({ max_per_second: 0 });
  expect(webhooks('UpdateWebhookRequest', request)).toMatchObject({ ...request, id: COMPANY });
});

test('names every problem by its public field', () => {
  const request = endpoint({ name: '', max_per_second: -1, event_types: { values: ['interaction.completed', 'nothing'] }, alert_emails: { values: ['x'] } });
  expect(detailsOf(() => webhooks('UpdateWebhookRequest', request))).toEqual([
    'body name MISSING',
    'body eventTypes[1] INVALID_ENUM_VALUE',
    'body maxPerSecond OUT_OF_RANGE',
    'body alertEmails[0] INVALID_FORMAT',
  ]);
});

test('checks values of enumerations only on request: an unset one is missing, an unknown one is invalid', () => {
  for (const state of ['WEBHOOK_STATE_UNSPECIFIED', 'WEBHOOK_STATE_LATER'])
    expect(detailsOf(() => webhooks('UpdateWebhookRequest', endpoint({ state })))).toEqual([]);
  expect(detailsOf(() => named('UpdateWebhookRequest', endpoint({ state: 'WEBHOOK_STATE_PAUSED' })))).toEqual([]);
  expect(detailsOf(() => named('UpdateWebhookRequest', endpoint({ state: 'WEBHOOK_STATE_UNSPECIFIED' })))).toEqual(['body state MISSING']);
  expect(detailsOf(() => named('UpdateWebhookRequest', endpoint({ state: 'WEBHOOK_STATE_LATER' })))).toEqual(['body state INVALID_ENUM_VALUE']);
  expect(() => named('UpdateWebhookRequest', endpoint({ state: '' }))).toThrow(
    expect.objectContaining({ details: [expect.objectContaining({ message: expect.stringMatching(/^Give one of .*PAUSED/) })] }),
  );
});

test('spells fields of requests without a public route as the contract does', () => {
  const asked = { company_id: 'x', requested_starts_at: 2, requested_ends_at: 1 };
  const details = detailsOf(() => requestCheck('truckroll.scheduling.v1')('RecordServiceRequestRequest', asked));
  expect(details).toEqual(expect.arrayContaining(['body company_id INVALID_UUID', 'body requested_ends_at RANGE_ORDER']));
});

test('refuses one field by itself, or what rules of a command have found', () => {
  expect(refused('url', 'No.')).toMatchObject({ status: 400, details: [{ location: 'body', field: 'url', code: 'INVALID_FORMAT', message: 'No.' }] });
  expect(refused('limit', 'No.', 'OUT_OF_RANGE').details[0]?.code).toBe('OUT_OF_RANGE');
  refuseBroken([]);
  expect(detailsOf(() => refuseBroken([{ field: 'since', code: 'OUT_OF_RANGE', message: 'No.' }]))).toEqual(['body since OUT_OF_RANGE']);
});
