// `truckroll listen` of integrators makes an endpoint whose deliveries reach a program on this machine. Real services and dispatcher.
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { verifyWebhook } from '../../packages/client/src/index.ts';
import { IntakeServiceService } from '@truckroll/contract/gen/scheduling/v1/intake';
import { ServiceRequestChannel } from '@truckroll/contract/gen/scheduling/v1/service_requests';
import { until } from '@truckroll/testing/until';
import { run } from '../../packages/cli/src/run.ts';
import { startSystem, type System, type TestCompany } from '../support/system.ts';
import { unpack } from './program.ts';

let system: System;
let company: TestCompany;
let program: Server;
let refusing = false;
const requests: { headers: Record<string, string>; body: string }[] = [];

beforeAll(async () => {
  program = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => (body += chunk));
    request.on('end', () => {
      if (request.url === '/tested') return void response.writeHead(refusing ? 500 : 200).end(refusing ? 'no\u001b[31m such tenant' : 'thanks');
      requests.push({ headers: request.headers as Record<string, string>, body });
      response.writeHead(requests.length === 1 ? 503 : 204).end();
    });
  });
  await new Promise<void>((resolve) => program.listen(0, '127.0.0.1', resolve));
  system = await startSystem({ webhookAllowedTargets: [`127.0.0.1:${(program.address() as AddressInfo).port}`] });
  company = await system.createCompany();
  await system.startDispatcher();
}, 60_000);
afterAll(async () => {
  program.close();
  await system.stop();
});

const listen = (credential: Record<string, string>, signal: AbortSignal, ...args: string[]) => truckroll(credential, signal, 'listen', '--json', ...args);

async function truckroll(credential: Record<string, string>, signal: AbortSignal, ...args: string[]) {
  let out = '';
  let err = '';
  const io = { env: { TRUCKROLL_URL: system.baseUrl, ...credential }, cwd: '.', stdin: process.stdin, signal };
  const code = await run(args, { ...io, stdout: { write: (text) => (out += text) }, stderr: { write: (text) => (err += text) } });
  return { code, out, err };
}

const endpoints = async (): Promise<any[]> => (await system.get(company, '/api/v1/integrations/webhooks')).body.data;
const intake = () => system.channel('scheduling').client(IntakeServiceService);

test('sends events on in order, signed, and removes its endpoint at the end', async () => {
  const token = { TRUCKROLL_TOKEN: system.userToken(company) };
  const target = `http://127.0.0.1:${(program.address() as AddressInfo).port}/hook`;
  const listening = listen(token, new AbortController().signal, '--count', '3', '--forward-to', target);
  const [own] = await until('the endpoint', endpoints, ({ length }) => length === 1);
  expect(own).toMatchObject({ state: 'PAUSED', alertEmails: [] });
  expect(Date.parse(own.expiresAt) - Date.parse(own.createdAt)).toBeLessThanOrEqual(16 * 60_000);
  const id = randomUUID();
  // Longer than what a list shows of a body.
  const summary = 'é'.repeat(1500);
  await intake().recordServiceRequest({ company_id: company.id, id, channel: ServiceRequestChannel.PHONE, summary });
  await intake().changeServiceRequestStatus({ company_id: company.id, id, status: 'SERVICE_REQUEST_STATUS_CONTACTED' });
  const tested = await truckroll(token, new AbortController().signal, 'webhooks', 'test', own.id, '--json');
  expect([tested.code, JSON.parse(tested.out)]).toEqual([
    0,
    expect.objectContaining({ status: 'waiting', reason: expect.stringContaining('of `truckroll listen`') }),
  ]);

  const { code, out, err } = await listening;
  const arrivals = out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const [, secret = ''] = /(whsec_\S+)/.exec(err) ?? [];
  expect(arrivals.map(({ answer }) => answer)).toEqual([503, 204, 204]);
  // The program refused one.
  expect(code).toBe(1);
  const events = requests.map(({ headers, body }) => verifyWebhook([secret], headers, Buffer.from(body)) as any);
  expect(events.filter(({ test: isTest }) => !isTest).map(({ sequence, data }) => [sequence, data.id, data.summary])).toEqual([
    [1, id, summary],
    [2, id, summary],
  ]);
  expect(requests.filter(({ headers }) => headers['webhook-test'] === 'true')).toHaveLength(1);
  expect(await endpoints()).toEqual([]);
}, 60_000);

test('`webhooks test` shows what the receiver answered, and fails where it refused', async () => {
  const token = { TRUCKROLL_TOKEN: system.userToken(company) };
  const call = (...args: string[]) => truckroll(token, new AbortController().signal, 'webhooks', ...args);
  const url = `http://127.0.0.1:${(program.address() as AddressInfo).port}/tested`;
  const { id } = JSON.parse((await call('create', url, '--events', 'service_request.created', '--json')).out);
  const accepted = await call('test', id, '--json');
  expect([accepted.code, JSON.parse(accepted.out)]).toEqual([
    0,
    expect.objectContaining({ status: 'succeeded', httpStatus: 200, answer: 'thanks', reason: null }),
  ]);
  refusing = true;
  const { code, out } = await call('test', id);
  expect(code).toBe(1);
  for (const line of [/^httpStatus +500$/m, /^milliseconds +\d+$/m, /^answer +no\\u001b\[31m such tenant$/m]) expect(out).toMatch(line);
  await call('delete', id);
}, 60_000);

test('ends with Ctrl-C, and removes its endpoint then', async () => {
  const interruption = new AbortController();
  const listening = listen({ TRUCKROLL_TOKEN: system.userToken(company) }, interruption.signal);
  await until('the endpoint', endpoints, ({ length }) => length === 1);
  interruption.abort();
  expect(await listening).toMatchObject({ code: 0, out: '' });
  expect(await endpoints()).toEqual([]);
});

test('removes its endpoint when its reader has enough', async () => {
  const packed = unpack();
  const env = { HOME: packed.folder, TRUCKROLL_URL: system.baseUrl, TRUCKROLL_TOKEN: system.userToken(company) };
  const child = spawn(process.execPath, [packed.script, 'listen'], { cwd: packed.folder, env });
  child.stdout.destroy();
  await until('the endpoint', endpoints, ({ length }) => length === 1);
  await intake().recordServiceRequest({ company_id: company.id, id: randomUUID(), channel: ServiceRequestChannel.PHONE, summary: 'x' });
  expect(await once(child, 'close')).toEqual([0, null]);
  expect(await endpoints()).toEqual([]);
  packed.remove();
});

test('says that a key may not', async () => {
  const { code, err } = await listen({ TRUCKROLL_API_KEY: company.apiKey }, new AbortController().signal);
  expect([code, err]).toEqual([1, expect.stringContaining('user token')]);
});
