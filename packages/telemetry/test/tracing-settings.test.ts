import { startCollector } from '@truckroll/testing';
import { activeTraceparent, createLog, onBehalfOf, silentLog, startTracing, withRemoteSpan, withSpan, type Logger } from '../src/index.ts';

type Collector = Awaited<ReturnType<typeof startCollector>>;

const NAMES = [
  'OTEL_TRACES_SAMPLER',
  'OTEL_TRACES_SAMPLER_ARG',
  'OTEL_RESOURCE_ATTRIBUTES',
  'OTEL_SERVICE_NAME',
  'OTEL_EXPORTER_OTLP_HEADERS',
  'OTEL_EXPORTER_OTLP_TRACES_HEADERS',
  'TRUCKROLL_VERSION',
];
const before = NAMES.map((name) => [name, process.env[name]] as const);
afterEach(() => {
  for (const [name, value] of before) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
});

let collector: Collector;
beforeEach(async () => void (collector = await startCollector()));
afterEach(() => collector.close());

async function traced(environment: Record<string, string>, work: () => Promise<unknown>, log: Logger = silentLog): Promise<void> {
  Object.assign(process.env, environment);
  const stop = await startTracing('trial', { otlpEndpoint: collector.url }, log);
  await work();
  await stop();
}

const ALL = { OTEL_TRACES_SAMPLER: 'always_on' };

const span = (name: string) => withSpan(name, 'SERVER', {}, async () => undefined);

test('a resource describes the process: component, version, instance and SDK', async () => {
  await traced({ ...ALL, TRUCKROLL_VERSION: '1.2.3' }, () => span('one'));
  await traced(ALL, () => span('two'));
  const [one, two] = collector.uploads.map(({ resource }) => resource) as [Record<string, string>, Record<string, string>];
  expect(one).toMatchObject({ 'service.name': 'trial', 'service.namespace': 'truckroll', 'service.version': '1.2.3', 'telemetry.sdk.language': 'nodejs' });
  expect(one['service.instance.id']).toMatch(/^[0-9a-f-]{36}$/);
  expect(two['service.instance.id']).not.toBe(one['service.instance.id']);
});

test('OTEL_RESOURCE_ATTRIBUTES overrides the resource, and OTEL_SERVICE_NAME overrides both', async () => {
  const attributes = 'k8s.pod.name=gateway-1,team=a%2Cb,service.instance.id=i1,service.name=other';
  await traced({ ...ALL, OTEL_RESOURCE_ATTRIBUTES: attributes }, () => span('one'));
  expect(collector.uploads[0]!.resource).toMatchObject({ 'k8s.pod.name': 'gateway-1', team: 'a,b', 'service.instance.id': 'i1', 'service.name': 'other' });
  await traced({ ...ALL, OTEL_SERVICE_NAME: 'named' }, () => span('two'));
  expect(collector.uploads[1]!.resource).toMatchObject({ 'service.name': 'named', 'service.namespace': 'truckroll' });
});

test('headers for the collector come from OTEL_EXPORTER_OTLP_HEADERS, and those for traces override them', async () => {
  const headers = { ...ALL, OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20a,x-tenant=all', OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'x-tenant=traces' };
  await traced(headers, () => span('one'));
  expect(collector.uploads[0]!.headers).toMatchObject({ authorization: 'Bearer a', 'x-tenant': 'traces' });
});

test.each([
  ['below OTEL_EXPORTER_OTLP_ENDPOINT', '/v1/traces', (url: string) => ({ otlpEndpoint: url })],
  ['below its path', '/otlp/v1/traces', (url: string) => ({ otlpEndpoint: `${url}/otlp/` })],
  ['to OTEL_EXPORTER_OTLP_TRACES_ENDPOINT as it is', '/spans', (url: string) => ({ otlpEndpoint: 'http://127.0.0.1:1', otlpTracesEndpoint: `${url}/spans` })],
])('spans go %s', async (_, path, endpoints) => {
  Object.assign(process.env, ALL);
  const stop = await startTracing('trial', endpoints(collector.url), silentLog);
  await span('one');
  await stop();
  expect(collector.uploads.map((upload) => upload.path)).toEqual([path]);
});

describe('a sampler', () => {
  /** The trace id is the request id, which TraceIdRatioBased reads as a number from 0 to 1. */
  const request = (requestId: string) => ({ requestId, traceparent: undefined });
  const TWO_PER_MILLE = request('40000000-0000-4000-8000-4000c0800000');
  const QUARTER = request('40000000-0000-4000-8000-400080000000');
  const THREE_QUARTERS = request('40000000-0000-4000-8000-400000000000');
  const below = (flags: '00' | '01', name: string) => {
    const traceparent = `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-${flags}`;
    return withRemoteSpan(
      (header) => (header === 'traceparent' ? traceparent : undefined),
      name,
      'SERVER',
      {},
      async () => undefined,
    );
  };
  const spans = async () => {
    await onBehalfOf(TWO_PER_MILLE, () => span('two per mille'));
    await onBehalfOf(QUARTER, () => span('quarter'));
    await onBehalfOf(THREE_QUARTERS, () => span('three quarters'));
    await below('00', 'unsampled parent');
    await below('01', 'sampled parent');
  };

  test.each<[string, Record<string, string>, string[]]>([
    ['none', {}, ['two per mille', 'sampled parent']],
    ['none', { OTEL_TRACES_SAMPLER_ARG: '0.5' }, ['two per mille', 'quarter', 'sampled parent']],
    ['always_on', {}, ['two per mille', 'quarter', 'three quarters', 'unsampled parent', 'sampled parent']],
    ['always_off', {}, []],
    ['traceidratio', { OTEL_TRACES_SAMPLER_ARG: '0.5' }, ['two per mille', 'quarter']],
    ['traceidratio', {}, ['two per mille', 'quarter', 'three quarters', 'unsampled parent', 'sampled parent']],
    ['parentbased_always_on', {}, ['two per mille', 'quarter', 'three quarters', 'sampled parent']],
    ['parentbased_always_off', {}, ['sampled parent']],
    ['parentbased_traceidratio', { OTEL_TRACES_SAMPLER_ARG: '0.5' }, ['two per mille', 'quarter', 'sampled parent']],
  ])('%s, with %j, decides which traces are sent', async (name, environment, sent) => {
    await traced({ ...(name === 'none' ? {} : { OTEL_TRACES_SAMPLER: name }), ...environment }, spans);
    expect(collector.spans.map((each) => each.name)).toEqual(sent);
  });

  test.each([
    [{ OTEL_TRACES_SAMPLER: 'sometimes' }, /OTEL_TRACES_SAMPLER is "sometimes", which is none of always_on, always_off, traceidratio/, ['two per mille']],
    ...['50', '0,01', 'half'].map(
      (given) =>
        [
          { OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: given },
          new RegExp(`OTEL_TRACES_SAMPLER_ARG is ${given}, which is no number from 0 to 1: 0.01 is used`),
          ['two per mille'],
        ] as const,
    ),
  ] as const)('that is unknown is replaced by the default, and the log says so: %j', async (environment, detail, sent) => {
    const lines: string[] = [];
    await traced(environment, spans, createLog('trial', 'warn', { write: (line) => lines.push((JSON.parse(line) as { detail: string }).detail) }));
    expect(lines).toEqual([expect.stringMatching(detail)]);
    expect(collector.spans.map((each) => each.name)).toEqual([...sent, 'sampled parent']);
  });

  test('that drops a trace passes that decision on to callees', async () => {
    await traced({ OTEL_TRACES_SAMPLER: 'always_off' }, () =>
      onBehalfOf(QUARTER, () =>
        withSpan('one', 'SERVER', {}, async () => expect(activeTraceparent()).toMatch(/^00-40000000000040008000400080000000-[0-9a-f]{16}-00$/)),
      ),
    );
  });
});
