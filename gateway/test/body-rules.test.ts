// Rules over several fields of a body, and what integrations adds to the problems of a body that is rejected anyway.
import { eventTypesOf, type ErrorDetail } from '@truckroll/contract';
import { WebhookServiceService, type CheckWebhookRequest, type CheckWebhookResponse } from '@truckroll/contract/gen/integrations/v1/webhooks';
import { createGrpcServer, openChannel, type Channel, type GrpcServer, type Handlers } from '@truckroll/grpc';
import { createMetrics, silentLog } from '@truckroll/telemetry';
import { testCaller, testConfig } from '@truckroll/testing';
import { compileWebhookCheck } from '../src/routes/body-rules.ts';
import { inputsOf } from '../src/routes/inputs.ts';
import { bodyShape, readJson } from '../src/routes/request.ts';
import type { Exchange } from '../src/http/exchange.ts';
import type { Services } from '../src/services.ts';
import { operation } from './support/operation.ts';

const shapeOf = (name: string) => bodyShape(operation(name), inputsOf(operation(name)));
const URL = 'https://example.com/hook';
const ID = '0b8f3c1e-7a52-4c6d-9e10-2f4a5b6c7d8e';
const REQUEST = '6f1c1e52-9d1b-4c58-8a53-6a2f3f1f0c11';

function problemsOf(name: string, json: object): string[] {
  const problems: ErrorDetail[] = [];
  readJson(operation(name), shapeOf(name)!, json, problems);
  return problems.map(({ location, field, code }) => `${location} ${field} ${code}`);
}

describe('a rule over several fields', () => {
  const types = { name: 'Till', url: URL, eventTypes: ['service_request.created'] };
  const reserved = { headers: [{ name: 'Host', value: 'x' }] };

  test.each<[string, object, string[]]>([
    ['CreateApiKey', { name: 'Till', expiresAt: '2001-01-01T00:00:00Z' }, ['body expiresAt OUT_OF_RANGE']],
    ['CreateApiKey', { name: 'Till' }, []],
    ['RecoverWebhook', { since: '2099-01-01T00:00:00Z' }, ['body since OUT_OF_RANGE']],
    ['RecoverWebhook', { since: '2020-01-02T00:00:00Z', until: '2020-01-01T00:00:00Z' }, ['body until RANGE_ORDER']],
    ['RecoverWebhook', { since: '2020-01-01T00:00:00Z', until: '2020-01-02T00:00:00Z' }, []],
    ['CreateWebhook', { ...types, state: 'PAUSED', enabled: true }, ['body enabled INVALID_FORMAT']],
    ['CreateWebhook', { ...types, ...reserved }, ['body headers[0].name INVALID_FORMAT']],
    ['UpdateWebhook', { state: 'PAUSED', enabled: true }, ['body enabled INVALID_FORMAT']],
    ['UpdateWebhook', { resumeSkipped: true }, ['body resumeSkipped INVALID_FORMAT']],
    ['UpdateWebhook', { ...reserved }, ['body headers[0].name INVALID_FORMAT']],
    ['CreateWebhook', { ...types, expiresAt: '2001-01-01T00:00:00Z' }, ['body expiresAt OUT_OF_RANGE']],
    ['UpdateWebhook', { expiresAt: '2001-01-01T00:00:00Z' }, ['body expiresAt OUT_OF_RANGE']],
    ['UpdateWebhook', { expiresAt: null }, []],
    ['UpdateWebhook', { headers: [{ name: 'X-Key', value: 'é' }] }, ['body headers[0].value INVALID_FORMAT']],
    [
      'UpdateWebhook',
      { headers: [{ name: 'Host' }, { name: 7 }, 7] },
      ['body headers[1].name INVALID_FORMAT', 'body headers[2] INVALID_FORMAT', 'body headers[0].name INVALID_FORMAT'],
    ],
    ['UpdateWebhook', { headers: [{ name: 'X-Key' }], state: 'ENABLED', resumeSkipped: true }, []],
  ])('finds in %s with %j the problems %j', (name, body, expected) => {
    expect(problemsOf(name, body)).toEqual(expected);
  });

  test.each<[string, object, string[]]>([
    ['CreateApiKey', { name: 'Till', expiresAt: 'tomorrow' }, ['body expiresAt INVALID_FORMAT']],
    ['RecoverWebhook', { since: '2020-01-02T00:00:00Z', until: 'now' }, ['body until INVALID_FORMAT']],
    ['RecoverWebhook', { until: '2020-01-01T00:00:00Z' }, ['body since MISSING']],
    ['UpdateWebhook', { state: 'ASLEEP', resumeSkipped: true }, ['body state INVALID_ENUM_VALUE']],
  ])('is skipped in %s with %j, one of whose fields cannot be read', (name, body, expected) => {
    expect(problemsOf(name, body)).toEqual(expected);
  });
});

describe('what only integrations can judge, in a body that is rejected anyway', () => {
  let server: GrpcServer;
  let channel: Channel;
  let answer: () => CheckWebhookResponse;
  const asked: CheckWebhookRequest[] = [];

  beforeAll(async () => {
    server = createGrpcServer({ log: silentLog, metrics: createMetrics('test'), callers: { accepted: testConfig.callerCredentials } });
    const unused = () => {
      throw new Error('not used');
    };
    const handlers = Object.fromEntries(Object.keys(WebhookServiceService).map((name) => [name, unused])) as unknown as Handlers<typeof WebhookServiceService>;
    server.implement(WebhookServiceService, {
      ...handlers,
      checkWebhook: (request, { requestId }) => {
        expect(requestId).toBe(REQUEST);
        asked.push(request);
        return answer();
      },
    });
    channel = openChannel(`127.0.0.1:${await server.listen(0, '127.0.0.1')}`, { credentials: [testCaller('gateway')] });
    await channel.check(5000);
  });
  afterAll(async () => {
    channel.close();
    await server.drain(100);
  });
  beforeEach(() => {
    asked.length = 0;
    answer = () => ({ problems: [{ field: 'headers', code: 'TOO_LARGE', message: 'Shorten them.' }] });
  });

  const EXCHANGE = { requestId: REQUEST, principal: { company_id: 'acme', time_zone: 'UTC', user_id: 'ana' } } as Exchange;

  /** What is found more, in a body that is read and judged as in a request. */
  async function found(name: string, json: object, exchange = EXCHANGE): Promise<string[]> {
    const problems: ErrorDetail[] = [];
    const message = readJson(operation(name), shapeOf(name)!, json, problems);
    const more = await compileWebhookCheck(operation(name), { channels: { integrations: channel } } as unknown as Services)(message, ID, problems, exchange);
    return more.map(({ location, field, code }) => `${location} ${field} ${code}`);
  }

  test('is added to the problems, whatever the operation', async () => {
    for (const name of ['CreateWebhook', 'UpdateWebhook', 'PreviewWebhookFilter'])
      expect(await found(name, { colour: 'red' })).toEqual(['body headers TOO_LARGE']);
    expect(await found('CreateApiKey', { colour: 'red' })).toEqual([]);
    expect(asked.map(({ caller, id }) => [caller?.company_id, caller?.user_id, id])).toEqual(Array(3).fill(['acme', 'ana', ID]));
  });

  test('is nothing if integrations cannot answer', async () => {
    answer = () => {
      throw new Error('away');
    };
    expect(await found('CreateWebhook', { url: URL })).toEqual([]);
  });

  test('is judged without what could not be read, and repeats no problem', async () => {
    const headers = [{ name: 'X-A', value: 'a' }, 7, { name: 7, value: 'b' }];
    const json = { url: 7, headers, alertEmails: ['ana@example.com', 'bo'], filter: { status: { $eq: 'NEW' } }, eventTypes: ['service_request.created'] };
    answer = () => ({
      problems: ['url', 'headers[1].name', 'headers[2].name', 'alertEmails[0]', 'alertEmails[1]', 'filter.status'].map((field) => ({
        field,
        code: 'MISSING',
        message: '',
      })),
    });
    expect(await found('UpdateWebhook', json)).toEqual(['body alertEmails[0] MISSING', 'body filter.status MISSING']);
    expect(asked[0]).toMatchObject({
      url: null,
      headers: {
        values: [
          { name: 'X-A', value: 'a' },
          { name: '', value: null },
          { name: '', value: 'b' },
        ],
      },
      event_types: { values: ['service_request.created'] },
      filter: '{"status":{"$eq":"NEW"}}',
    });
  });

  test('judges the filter by all types if those of the body could not be read', async () => {
    const filter = { status: {} };
    await found('CreateWebhook', { name: 'Till', url: URL, filter, eventTypes: ['service_request.lost'] });
    await found('CreateWebhook', { name: 'Till', url: URL, filter });
    await found('UpdateWebhook', { url: URL, filter, eventTypes: 'all' });
    const types = { values: eventTypesOf.subscription.map(({ type }) => type) };
    expect(asked.map(({ url, filter: text, event_types }) => [url, text, event_types])).toEqual(Array(3).fill([URL, '{"status":{}}', types]));
  });
});
