import { checkExpiry, checkExpiryChange, checkRecoveryRange, checkWebhookHeaders, checkWebhookState } from '../src/command-rules.ts';

const NOW = 1_800_000_000_000_000;

describe('the end of a new API key', () => {
  test.each([
    ['none', undefined],
    ['null', null],
    ['a microsecond from now', NOW + 1],
  ])('may be %s', (_, expiresAt) => {
    expect(checkExpiry(expiresAt, NOW)).toEqual([]);
  });

  test.each([
    ['now', NOW],
    ['past', NOW - 1],
  ])('must not be %s', (_, expiresAt) => {
    expect(checkExpiry(expiresAt, NOW)).toMatchObject([{ field: 'expiresAt', code: 'OUT_OF_RANGE', message: expect.stringContaining('future') }]);
  });
});

test('a change of the end may remove it by 0, and is judged as a new one otherwise', () => {
  expect([0, null, NOW + 1].map((expiresAt) => checkExpiryChange(expiresAt, NOW))).toEqual([[], [], []]);
  expect([checkExpiryChange(NOW, NOW), checkExpiry(0, NOW)]).toMatchObject([[{ code: 'OUT_OF_RANGE' }], [{ code: 'OUT_OF_RANGE' }]]);
});

describe('the range of a recovery', () => {
  test.each([
    ['a past time', { since: NOW - 1 }],
    ['a past time without an end', { since: NOW - 1, until: null }],
    ['a past time to a later one', { since: NOW - 2, until: NOW - 1 }],
    ['a past time to a future one', { since: NOW - 1, until: NOW + 1 }],
  ])('may go from %s', (_, range) => {
    expect(checkRecoveryRange(range, NOW)).toEqual([]);
  });

  test.each([
    ['now', { since: NOW }],
    ['a future time', { since: NOW + 1, until: null }],
  ])('must not begin at %s', (_, range) => {
    expect(checkRecoveryRange(range, NOW)).toMatchObject([{ field: 'since', code: 'OUT_OF_RANGE', message: expect.stringContaining('past') }]);
  });

  test.each([
    ['where it begins', { since: NOW - 1, until: NOW - 1 }],
    ['before it begins', { since: NOW - 1, until: NOW - 2 }],
  ])('must not end %s', (_, range) => {
    expect(checkRecoveryRange(range, NOW)).toMatchObject([{ field: 'until', code: 'RANGE_ORDER', message: expect.stringContaining('later than since') }]);
  });
});

describe('the state of a webhook endpoint', () => {
  const [enabled, paused, disabled] = ['ENABLED', 'PAUSED', 'DISABLED'].map((name) => `WEBHOOK_STATE_${name}`);

  test.each([
    {},
    { enabled: true },
    { enabled: false },
    { state: enabled, enabled: true, resume_skipped: true },
    { enabled: true, resume_skipped: true },
    { state: paused, enabled: false, resume_skipped: false },
    { state: disabled, enabled: false },
  ])('may be %j', (request) => {
    expect(checkWebhookState(request)).toEqual([]);
  });

  test.each([
    ['enabled', { state: enabled, enabled: false }, 'true'],
    ['enabled', { state: paused, enabled: true }, 'false'],
    ['enabled', { state: disabled, enabled: true }, 'false'],
    ['resumeSkipped', { resume_skipped: true }, 'ENABLED'],
    ['resumeSkipped', { enabled: false, resume_skipped: true }, 'ENABLED'],
    ['resumeSkipped', { state: paused, resume_skipped: true }, 'ENABLED'],
  ])('names %s in %j', (field, request, word) => {
    expect(checkWebhookState(request)).toEqual([{ field, code: 'INVALID_FORMAT', message: expect.stringContaining(word) }]);
  });
});

describe('the custom headers of a webhook endpoint', () => {
  test.each(['X-Api-Key', 'Authorization', 'user-agent', 'Contents', 'My-Content-Type', 'Hosts', 'Webhooks', "a!#$%&'*+.^_`|~z"])(
    'may have the name %s',
    (name) => {
      expect(checkWebhookHeaders([{ name, value: 'visible: "\\ ~' }, { name: 'X-Other' }])).toEqual([]);
    },
  );

  test.each([
    ['', 'letters'],
    ['X Api', 'letters'],
    ['X:Api', 'letters'],
    ['X-Äpi', 'letters'],
    ['x\r\ny', 'letters'],
    ...['Connection', 'expect', 'HOST', 'Keep-Alive', 'Proxy-Authenticate', 'Proxy-Authorization', 'Proxy-Connection', 'TE', 'Trailer'].map((name) => [
      name,
      'another',
    ]),
    ...['Transfer-Encoding', 'Upgrade', 'Content-Type', 'content-', 'Webhook-Id', 'webhook-x'].map((name) => [name, 'another']),
  ] as [string, string][])('must not have the name %j', (name, word) => {
    const message = expect.stringContaining(word);
    expect(checkWebhookHeaders([{ name: 'X-First', value: 'x' }, { name }])).toEqual([{ field: 'headers[1].name', code: 'INVALID_FORMAT', message }]);
  });

  test.each(['a\nb', 'a\tb', 'a\u007f', 'é', '\u0080'])('must not have the value %j', (value) => {
    const message = expect.stringContaining('ASCII');
    expect(checkWebhookHeaders([{ name: 'X-First', value }])).toEqual([{ field: 'headers[0].value', code: 'INVALID_FORMAT', message }]);
  });

  test('must not have a name twice, in any spelling', () => {
    const message = expect.stringContaining('once');
    expect(checkWebhookHeaders([{ name: 'X-A' }, { name: 'x-a' }])).toEqual([{ field: 'headers[1].name', code: 'INVALID_FORMAT', message }]);
  });
});
