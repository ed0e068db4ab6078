// The public surface below a path prefix that a proxy strips: https://example.com/fsm/.
import { createServer, request as send, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { request, startGateway, type TestGateway } from '../gateway/test/support/gateway.ts';
import { standInReports, type Reports } from '../gateway/test/support/reports.ts';
import { standInCommands, type Commands } from '../gateway/test/support/stand-ins.ts';

const PREFIX = '/fsm';
const BROWSER = { accept: 'text/html,*/*;q=0.8' };

/** Forwards what is below the prefix without it, and answers everything else with 421. */
async function stripPrefix(target: () => string): Promise<Server> {
  const proxy = createServer((incoming, outgoing) => {
    const { url = '', method, headers } = incoming;
    if (!url.startsWith(`${PREFIX}/`)) return void outgoing.writeHead(421).end();
    const forwarded = send(target() + url.slice(PREFIX.length), { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode!, answer.rawHeaders);
      answer.pipe(outgoing);
    });
    forwarded.on('error', () => outgoing.destroy());
    incoming.pipe(forwarded);
  });
  await once(proxy.listen(0, '127.0.0.1'), 'listening');
  return proxy;
}

let reports: Reports;
let commands: Commands;
let configured: TestGateway;
let unconfigured: TestGateway;
let gateway: TestGateway;
let proxy: Server;
/** The address of the installation as its users know it. */
let base: string;
beforeAll(async () => {
  reports = await standInReports();
  commands = await standInCommands();
  proxy = await stripPrefix(() => gateway.url);
  base = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}${PREFIX}`;
  const environment = { REPORTING_ADDRESS: `127.0.0.1:${reports.port}`, SCHEDULING_ADDRESS: `127.0.0.1:${commands.port}`, PUBLIC_PAGES_PER_MINUTE: '100000' };
  unconfigured = await startGateway(environment);
  configured = await startGateway({ ...environment, PUBLIC_URL: `${base}/` }, unconfigured);
});
afterAll(async () => {
  proxy.close();
  await configured.stop();
  await unconfigured.stop();
  await commands.stop();
  await reports.stop();
});

/** All references of a document and of its answer's headers, as absolute addresses. */
function linksOf(url: string, type: string, text: string, headers: Headers): string[] {
  const found: (string | undefined)[] = [headers.get('location') ?? undefined];
  for (const [, target] of (headers.get('link') ?? '').matchAll(/<([^>]*)>/g)) found.push(target);
  if (type === 'text/html') for (const [, target] of text.matchAll(/ (?:href|src|data-index)="([^"]*)"/g)) found.push(target!.replaceAll('&#38;', '&'));
  if (type === 'text/markdown' || url.endsWith('/llms.txt'))
    for (const [, target] of text.replace(/```.*?```/gs, '').matchAll(/\]\(([^)\s]+)\)/g)) found.push(target);
  if (type === 'text/css') for (const [, target] of text.matchAll(/url\("?([^")]+)"?\)/g)) found.push(target);
  if (type === 'text/javascript') for (const [, target] of text.matchAll(/(?:from|import)\s*\(?"(\.[^"]+)"/g)) found.push(target);
  if (type === 'application/linkset+json') for (const [, target] of text.matchAll(/"(?:href|anchor)": "([^"]+)"/g)) found.push(target);
  return found.filter((target) => target !== undefined && !/^(data|mailto):/.test(target)).map((target) => new URL(target!, url).href.replace(/#.*$/, ''));
}

describe.each([
  ['without PUBLIC_URL', () => unconfigured],
  ['with PUBLIC_URL', () => configured],
])('%s', (_, chosen) => {
  beforeAll(() => void (gateway = chosen()));
  const call = (url: string, init: RequestInit = {}) =>
    request(url, { redirect: 'manual', ...init, headers: { authorization: `Bearer ${gateway.key}`, ...init.headers } });

  test('every link of the documentation, the console and the catalog leads below the prefix', async () => {
    const starts = [
      '/',
      '/docs',
      '/docs/',
      '/console',
      '/console/',
      '/llms.txt',
      '/.well-known/api-catalog',
      '/nowhere',
      '/no/where/at/all',
      '/v1',
      '/api/v1/',
    ];
    const queue = starts.map((path) => base + path);
    const seen = new Set(queue);
    const broken: string[] = [];
    for (const url of queue) {
      const { status, text, headers } = await request(url, { headers: BROWSER, redirect: 'manual' });
      const isMissing = /\/no(where|\/)/.test(new URL(url).pathname);
      if (isMissing ? status !== 404 : status >= 400) broken.push(`${status} ${url}`);
      const type = headers.get('content-type')?.split(';')[0] ?? '';
      for (const link of linksOf(url, type, text, headers)) {
        if (!link.startsWith(new URL(base).origin) || seen.has(link)) continue;
        seen.add(link);
        queue.push(link);
      }
    }
    expect(broken).toEqual([]);
    expect(seen.size).toBeGreaterThan(100);
  });

  test('the servers of the description are the API', async () => {
    const url = `${base}/openapi.json`;
    const { body } = await call(url);
    const server = new URL(body.servers[0].url, url).href.replace(/\/$/, '');
    expect([server, (await call(`${server}/v1/company`)).status]).toEqual([base, 200]);
  });

  test('the link to the next page of a report leads to it', async () => {
    reports.next = Buffer.from('there');
    const url = `${base}/v1/reports/collections?start_date=2026-01-01&end_date=2026-04-01`;
    const first = await call(url, { headers: { accept: 'text/csv' } });
    const next = new URL(/^<(.*)>; rel="next"$/.exec(first.headers.get('link')!)![1]!, url).href;
    const second = await call(next, { headers: { accept: 'text/csv' } });
    expect([second.status, Buffer.from(reports.asked.collections!.collection!.after).toString()]).toEqual([200, 'there']);
  });
});

test('with PUBLIC_URL, Location and security.txt have the prefix', async () => {
  gateway = configured;
  const headers = { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json', 'idempotency-key': 'key-12345' };
  const id = '0b8f3c1e-7a52-4c6d-9e10-2f4a5b6c7d8e';
  const times = { starts_at: '2026-03-02T15:00:00Z', ends_at: '2026-03-02T17:00:00Z' };
  const body = JSON.stringify({ expected_revision: 'ab'.repeat(32), appointment_id: id, team_member_id: id, ...times });
  const { status, headers: answered } = await request(`${base}/v1/job-assignments`, { method: 'POST', headers, body });
  expect([status, answered.get('location')]).toEqual([201, `${PREFIX}/v1/job-assignments/new`]);
  expect((await request(`${base}/.well-known/security.txt`)).text).toContain(`Canonical: ${base}/.well-known/security.txt\n`);
});
