// Rules over several fields of a body, and the check of an endpoint's address for a body that is rejected anyway.
import type { ErrorDetail } from '@truckroll/contract';
import { WebhookServiceService } from '@truckroll/contract/gen/integrations/v1/webhooks';
import { createGrpcServer, openChannel, type Channel, type GrpcServer, type Handlers } from '@truckroll/grpc';
import { createMetrics, silentLog } from '@truckroll/telemetry';
import { testCaller, testConfig } from '@truckroll/testing';
import { compileTargetCheck } from '../src/routes/body-rules.ts';
import { inputsOf } from '../src/routes/inputs.ts';
import { bodyShape, readJson } from '../src/routes/request.ts';
import type { Exchange } from '../src/http/exchange.ts';
import type { Services } from '../src/services.ts';
import { operation } from './support/operation.ts';

const shapeOf = (name: string) => bodyShape(operation(name), inputsOf(operation(name)));
const URL = 'https://example.com/hook';
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
    ['UpdateWebhook', { headers: [{ name: 'X-Key', value: 'é' }] }, ['body headers[0].value INVALID_FORMAT']],
    ['UpdateWebhook', { headers: [{ name: 'X-Key' }], state: 'ENABLED', resumeSkipped: true }, []],
  ])('finds in %s with %j the problems %j', (name, body, expected) => {
    expect(problemsOf(name, body)).toEqual(expected);
  });

  test.each<[string, object, string[]]>([
    ['CreateApiKey', { name: 'Till', expiresAt: 'tomorrow' }, ['body expiresAt INVALID_FORMAT']],
    ['RecoverWebhook', { since: '2020-01-02T00:00:00Z', until: 'now' }, ['body until INVALID_FORMAT']],
    ['RecoverWebhook', { until: '2020-01-01T00:00:00Z' }, ['body since MISSING']],
    ['UpdateWebhook', { state: 'ASLEEP', resumeSkipped: true }, ['body state INVALID_ENUM_VALUE']],
    ['UpdateWebhook', { headers: [{ name: 'Host' }, { name: 7 }] }, ['body headers[1].name INVALID_FORMAT']],
  ])('is skipped in %s with %j, one of whose fields cannot be read', (name, body, expected) => {
    expect(problemsOf(name, body)).toEqual(expected);
  });
});

describe('the address of an endpoint, in a body that is rejected anyway', () => {
  let server: GrpcServer;
  let channel: Channel;
  let answer: () => { problem: string | null };
  const asked: unknown[] = [];

  beforeAll(async () => {
    server = createGrpcServer({ log: silentLog, metrics: createMetrics('test'), callers: { accepted: testConfig.callerCredentials } });
    const unused = () => {
      throw new Error('not used');
    };
    const handlers = Object.fromEntries(Object.keys(WebhookServiceService).map((name) => [name, unused])) as unknown as Handlers<typeof WebhookServiceService>;
    server.implement(WebhookServiceService, {
      ...handlers,
      checkWebhookTarget: ({ url }, { requestId }) => {
        asked.push([url, requestId]);
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
    answer = () => ({ problem: 'Addresses of private networks are not allowed.' });
  });

  const found = (message: Record<string, unknown>, problems: readonly ErrorDetail[] = [], name = 'CreateWebhook'): Promise<ErrorDetail[]> =>
    compileTargetCheck(operation(name), shapeOf(name), { channels: { integrations: channel } } as unknown as Services)(message, problems, {
      requestId: REQUEST,
    } as Exchange);
  const problem = (location: ErrorDetail['location'], field: string): ErrorDetail => ({ location, field, code: 'INVALID_FORMAT', message: 'No.' });
  const refused = [{ location: 'body', field: 'url', code: 'INVALID_FORMAT', message: 'Addresses of private networks are not allowed.' }];

  test('is one more problem if integrations refuses it, and the call carries the id of the request', async () => {
    expect(await found({ url: URL }, [problem('body', 'name'), problem('query', 'url')])).toEqual(refused);
    expect(await found({ url: URL }, [], 'UpdateWebhook')).toEqual(refused);
    expect(asked).toEqual([
      [URL, REQUEST],
      [URL, REQUEST],
    ]);
  });

  test('is no problem if integrations allows it, or cannot answer', async () => {
    answer = () => ({ problem: null });
    expect(await found({ url: URL })).toEqual([]);
    answer = () => {
      throw new Error('away');
    };
    expect(await found({ url: URL })).toEqual([]);
  });

  test('is not asked about if it is left out, is a problem already, or is not one of an endpoint', async () => {
    expect(await found({})).toEqual([]);
    expect(await found({ url: URL }, [problem('body', 'url')])).toEqual([]);
    expect(await found({ url: URL }, [], 'AddAssignment')).toEqual([]);
    expect(asked).toEqual([]);
  });
});
