// A running system as operators see it: one request traced from gateway to webhook receiver, and every metric of dashboards and alert rules.
import { spawnSync } from 'node:child_process';
import { appendFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { IntakeServiceService } from '@truckroll/contract/gen/scheduling/v1/intake';
import { prometheus, silent } from '@truckroll/local-stack';
import { logTo, silentLog, startTracing } from '@truckroll/telemetry';
import { startCollector, type CollectedSpan } from '@truckroll/testing';
import { until } from '@truckroll/testing/until';
import { truckroll } from '../../tools/cli/test/system.ts';
import { startReceiver, type Receiver } from '../../services/webhook-dispatcher/test/support/receiver.ts';
import { dispatchDesk, type DispatchDesk } from '../support/dispatch.ts';
import { startSystem, type System } from '../support/system.ts';
import { listMetrics, type ListedMetric } from './components.ts';
import { expressions, namesIn } from './expressions.ts';

const HOOKS = '/api/v1/integrations/webhooks';
let folder: string;
let promtool: string;
let receiver: Receiver;
let system: System;
let desk: DispatchDesk;
let endpoint: string;
const written: string[] = [];

beforeAll(async () => {
  promtool = await prometheus('promtool', silent);
  folder = mkdtempSync(join(tmpdir(), 'truckroll-observe-'));
  const logs = join(folder, '.truckroll', 'logs');
  mkdirSync(logs, { recursive: true, mode: 0o700 });
  logTo({
    write(lines) {
      for (const line of lines.trimEnd().split('\n')) {
        written.push(line);
        appendFileSync(join(logs, `${(JSON.parse(line) as { service: string }).service}.log`), `${line}\n`);
      }
    },
  });
  receiver = await startReceiver((response) => void response.writeHead(204).end());
  system = await startSystem({ webhookAllowedTargets: [receiver.target], logLevel: 'info' });
  await system.startDispatcher();
  desk = await dispatchDesk(system);
  endpoint = (await manage('POST', HOOKS, { name: 'Dispatch board', url: receiver.url, eventTypes: ['service_request.status_changed'] })).data.id as string;
}, 120_000);
afterAll(async () => {
  await system.stop();
  await receiver.close();
  rmSync(folder, { recursive: true });
});

async function manage(method: string, path: string, body?: object): Promise<any> {
  const headers = { authorization: `Bearer ${system.userToken(desk.company)}`, 'content-type': 'application/json' };
  return await (await fetch(`${system.baseUrl}${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) })).json();
}

interface Line {
  service: string;
  msg: string;
  requestId: string;
  traceId: string;
  [field: string]: unknown;
}

async function trace(id: string): Promise<Line[]> {
  return (JSON.parse((await truckroll(['trace', id, '--json'], {}, folder)).stdout) as { lines: Line[] }).lines;
}

/** A visit booked for a service request, so that its changes are sent to the receiver. */
async function booked(): Promise<Awaited<ReturnType<DispatchDesk['visit']>>> {
  const visit = await desk.visit();
  const intake = system.channel('scheduling').client(IntakeServiceService);
  const id = crypto.randomUUID();
  await intake.recordServiceRequest({ company_id: desk.company.id, id, channel: 'SERVICE_REQUEST_CHANNEL_PHONE', summary: 'No heat' } as never);
  await intake.bookServiceRequest({ company_id: desk.company.id, id, job_id: desk.job['id'], appointment_id: visit['id'] });
  return visit;
}

test('a request can be followed by its id from the gateway to the receiver, and the delivery shows it', async () => {
  const visit = await booked();
  await receiver.until(1);
  const added = await desk.add(visit);
  expect(added.status).toBe(201);
  const requestId = added.headers.get('x-request-id')!;
  await receiver.until(2);
  const { headers, body } = receiver.received[1]!;
  expect(JSON.parse(body)).toMatchObject({ type: 'service_request.status_changed', data: { status: 'SCHEDULED' } });

  await until(
    'the webhook in the logs of the request',
    () => trace(requestId),
    (lines) => lines.some(({ msg }) => msg === 'sent a webhook'),
  );
  const lines = await trace(requestId);
  expect(lines.map(({ service, msg }) => `${service}: ${msg}`).toSorted()).toEqual([
    'gateway: request',
    'scheduling: served a call',
    'webhook-dispatcher: an event was handed to endpoints',
    'webhook-dispatcher: sent a webhook',
  ]);
  for (const line of lines) expect([line.requestId, line.traceId]).toEqual([requestId, requestId.replaceAll('-', '')]);
  const lineOf = (msg: string) => lines.find((line) => line.msg === msg);
  expect(lineOf('request')).toMatchObject({
    route: '/v1/job-assignments',
    status: 201,
    bytes: JSON.stringify(added.body).length,
    peer: expect.stringContaining('127.0.0.1'),
    companyId: desk.company.id,
  });
  expect(lineOf('sent a webhook')).toMatchObject({
    event: headers['webhook-id'],
    endpoint,
    companyId: desk.company.id,
    host: receiver.target,
    result: '2xx',
    status: 204,
    attempt: 1,
  });

  const { data: deliveries } = await manage('GET', `${HOOKS}/${endpoint}/deliveries`);
  const own = deliveries.find((delivery: { eventId: string }) => delivery.eventId === headers['webhook-id']);
  expect((await manage('GET', `${HOOKS}/${endpoint}/deliveries/${own.id}`)).data.requestId).toBe(requestId);
  const metrics = await system.metrics();
  expect(metrics['webhook-dispatcher']).toMatch(/^webhook_attempt_duration_seconds_count\{component="webhook-dispatcher",result="2xx"\} [1-9]/m);
  expect(metrics['integrations']).toMatch(/^webhook_deliveries_total\{state="succeeded",component="integrations"\} [1-9]/m);
});

test('a test event shows the request that created it, and continues the client’s trace', async () => {
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  const headers = { authorization: `Bearer ${system.userToken(desk.company)}`, traceparent };
  const asked = await fetch(`${system.baseUrl}${HOOKS}/${endpoint}/test`, { method: 'POST', headers });
  const requestId = asked.headers.get('x-request-id')!;
  const { data } = (await asked.json()) as { data: { id: string } };
  await until(
    'the webhook in the logs of the trace',
    () => trace(traceparent.slice(3, 35)),
    (lines) => lines.some(({ msg }) => msg === 'sent a webhook'),
  );
  const lines = await trace(traceparent.slice(3, 35));
  expect(new Set(lines.map((line) => line.requestId))).toEqual(new Set([requestId]));
  expect(lines.map(({ service }) => service)).toEqual(expect.arrayContaining(['gateway', 'integrations', 'webhook-dispatcher']));
  expect((await manage('GET', `${HOOKS}/${endpoint}/deliveries/${data.id}`)).data.requestId).toBe(requestId);
});

test('with an exporter, the request is one trace of spans, up to the exchange with the receiver; a 409 in it is not an error', async () => {
  process.env['OTEL_TRACES_SAMPLER'] = 'parentbased_always_on';
  const collector = await startCollector();
  const stop = await startTracing('system', { otlpEndpoint: collector.url }, silentLog);
  const before = receiver.received.length;
  const visit = await booked();
  await receiver.until(before + 1);
  const added = await desk.add(visit);
  const refused = await desk.add(visit);
  expect([added.status, refused.status]).toEqual([201, 409]);
  await receiver.until(before + 2);
  const requestId = added.headers.get('x-request-id')!;
  await until(
    'the webhook in the logs of the request',
    () => trace(requestId),
    (lines) => lines.some(({ msg }) => msg === 'sent a webhook'),
  );
  await stop();
  collector.close();
  const traced = (id: string): CollectedSpan[] => collector.spans.filter(({ traceId }) => traceId === id.replaceAll('-', ''));
  const spans = traced(requestId);
  const named = (name: string, kind: number): CollectedSpan => {
    const found = spans.find((span) => span.name === name && span.kind === kind);
    if (found === undefined) throw new Error(`${name} is not among ${spans.map((span) => `${span.name} ${span.kind}`).join(', ')}`);
    return found;
  };
  const [SERVER, CLIENT, CONSUMER] = [2, 3, 5];
  const rpc = '/truckroll.scheduling.v1.AssignmentCommandService/AddAssignment';
  const chain = [named('POST /v1/job-assignments', SERVER), named(rpc, CLIENT), named(rpc, SERVER)];
  expect(chain.slice(1).map(({ parentSpanId }) => parentSpanId)).toEqual(chain.slice(0, 2).map(({ spanId }) => spanId));
  const served = chain[2]!.spanId;
  expect(spans.filter(({ name, parentSpanId }) => name.startsWith('sql ') && parentSpanId === served).length).toBeGreaterThan(2);
  expect([named('fan out', CONSUMER), named('POST webhook', CLIENT)].map(({ parentSpanId }) => parentSpanId)).toEqual([served, served]);
  for (const span of [...spans, ...traced(refused.headers.get('x-request-id')!)]) expect([span.name, span.status?.code ?? 0]).toEqual([span.name, 0]);
  expect(chain[0]!.attributes).toEqual(
    expect.arrayContaining([
      { key: 'http.route', value: { stringValue: '/v1/job-assignments' } },
      { key: 'http.response.status_code', value: { intValue: 201 } },
      { key: 'truckroll.request_id', value: { stringValue: requestId } },
    ]),
  );
});

test('the log has no health checks at level info, but has other requests', async () => {
  await Promise.all(['/healthz', '/readyz', '/openapi.json'].map(async (path) => (await fetch(`${system.baseUrl}${path}`)).text()));
  await until(
    'the request in the log',
    () => written.filter((line) => line.includes('"path":"/openapi.json"')),
    (lines) => lines.length > 0,
  );
  expect(written.filter((line) => line.includes('"path":"/healthz"') || line.includes('"path":"/readyz"'))).toEqual([]);
});

async function scraped(): Promise<Map<string, Set<string>>> {
  const found = new Map<string, Set<string>>();
  for (const body of Object.values(await system.metrics())) {
    for (const [, name = '', labels = ''] of body.matchAll(/^([a-zA-Z_:][\w:]*)\{([^\n]*)\} /gm)) {
      const known = found.get(name) ?? new Set();
      for (const [, label = ''] of labels.matchAll(/(?:^|,)(\w+)="/g)) known.add(label);
      found.set(name, known);
    }
  }
  return found;
}

const BASE = /_(bucket|count|sum)$/;

test('the running system exposes everything that dashboards and alert rules use', async () => {
  // Nothing here causes failed imports, limits or outages, so their metrics are looked up in the list instead.
  const listed = new Map<string, ListedMetric>(listMetrics().map((metric) => [metric.name, metric]));
  await until('metrics of rounds', scraped, (metrics) => metrics.has('webhook_endpoints') && metrics.has('move_slots'));
  const series = await scraped();
  // Metrics of a process rather than a component are missing in a test's system: metrics.test.ts and `npm start -- --observe` cover them.
  const rare =
    /^(build_info|nodejs_|process_|gateway_(limited|unknown_keys)|database_refused|consumer_(unreadable|retries)|grpc_server_refused|notifications|mails|projection_rows_refused|report_companies|change_feed_held_back)/;
  for (const { where, expr } of expressions) {
    const { metrics, labels } = namesIn(expr);
    const own = metrics.filter((name) => !name.startsWith('slo:'));
    const known = new Set(['le', 'component', 'slo', 'cell']);
    for (const name of own) {
      const metric = listed.get(name) ?? listed.get(name.replace(BASE, ''));
      expect([where, name, metric?.name]).toEqual([where, name, expect.any(String)]);
      if (!rare.test(name)) expect([where, [...series.keys()]]).toEqual([where, expect.arrayContaining([name])]);
      for (const label of [...metric!.labels, ...(series.get(name) ?? [])]) known.add(label);
    }
    expect([where, labels.filter((label) => !known.has(label))]).toEqual([where, []]);
  }
});

test('the running system’s metrics pass promtool check metrics, and are in the list', async () => {
  const listed = new Set(listMetrics().map(({ name }) => name));
  for (const [component, body] of Object.entries(await system.metrics())) {
    const { stdout, stderr } = spawnSync(promtool, ['check', 'metrics'], { input: body, encoding: 'utf8' });
    expect([component, stdout + stderr]).toEqual([component, '']);
    const names = [...body.matchAll(/^# TYPE (\S+)/gm)].map(([, name = '']) => name);
    expect(names.filter((name) => !listed.has(name))).toEqual([]);
  }
});
