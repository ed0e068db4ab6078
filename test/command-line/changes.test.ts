// What the integrators' command line keeps and changes: profiles, endpoints, copies and files. The packed program against real services.
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { text } from 'node:stream/consumers';
import { until } from '@truckroll/testing/until';
import { feedIsCurrent } from '../changes/compared.ts';
import * as scheduling from '../../services/scheduling/test/records.ts';
import { startSystem, type System, type TestCompany } from '../support/system.ts';
import { NODES, unpack, versionOf, type Program, type Ran } from './program.ts';

let system: System;
let company: TestCompany;
let program: Program;
let profiles: string;
const accounts = Array.from({ length: 3 }, (_, index) => scheduling.account({ name: `=Customer ${index}` }));

beforeAll(async () => {
  system = await startSystem({ webhookAllowedTargets: ['127.0.0.1:4567'] });
  company = await system.createCompany();
  expect((await system.importRecords(company, 'accounts', accounts)).problems).toEqual([]);
  program = unpack();
  profiles = join(program.folder, '.config/truckroll/profiles.json');
}, 120_000);
afterAll(async () => {
  program.remove();
  await system.stop();
});

const run = (args: string[], input = '', env: Record<string, string> = {}): Promise<Ran> => program.run(args, { input, env });
const json = async (args: string[], env?: Record<string, string>): Promise<any> => JSON.parse((await run([...args, '--json'], '', env)).out);

describe('profiles', () => {
  test('are kept once the API has accepted the credential, in a file that only its owner can read', async () => {
    const refused = await run(['login', '--url', system.baseUrl], 'trk_unknown\n');
    expect([refused.code, refused.err, existsSync(profiles)]).toEqual([1, expect.stringContaining('does not accept the credential'), false]);
    const { code, out } = await run(['login'], `${system.baseUrl}/v1/\n${company.apiKey}\n`);
    expect([code, out]).toEqual([0, expect.stringMatching(/as Ada Ortiz of Test Heating & Air: profile default in /)]);
    expect(statSync(profiles).mode & 0o777).toBe(0o600);
    expect(await json(['get', 'company'])).toMatchObject({ id: company.id });
  });

  test('are chosen by name, listed without their credentials, and forgotten', async () => {
    const token = system.userToken(company);
    await run(['login', '--profile', 'boss', '--url', system.baseUrl], token);
    expect(await run(['login', '--profile', '', '--url', system.baseUrl], token)).toMatchObject({ code: 2, err: '--profile needs a name.\n' });
    const listed = await run(['profiles']);
    expect(listed.out).toMatch(/^default .* API key\nboss .* user token$/m);
    expect(listed.out).not.toContain(token);
    expect((await run(['get', 'company', '--profile', 'boss'])).code).toBe(0);
    expect(await run(['logout', '--profile', 'boss'])).toMatchObject({ code: 0, out: 'Forgot the profile boss.\n' });
    const gone = await run(['get', 'company', '--profile', 'boss']);
    expect([gone.code, gone.err]).toEqual([2, expect.stringContaining('`truckroll login --profile boss`')]);
  });

  test('hold the token of an issuer at which the user entered a code', async () => {
    const token = system.userToken(company);
    const [answers, forms]: [object[], string[]] = [[{ error: 'authorization_pending' }, { access_token: token, token_type: 'Bearer' }], []];
    const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
      const own = `http://${request.headers.host}`;
      const send = (body: object): void =>
        void response.writeHead('error' in body ? 400 : 200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
      const path = request.url!;
      if (path === '/.well-known/oauth-protected-resource') return send({ authorization_servers: [own] });
      if (path === '/.well-known/openid-configuration')
        return send({ issuer: own, token_endpoint: `${own}/token`, device_authorization_endpoint: `${own}/device` });
      if (path.startsWith('/api/')) {
        const answer = await fetch(system.baseUrl + path, { headers: { authorization: request.headers.authorization! } });
        return send((await answer.json()) as object);
      }
      forms.push(`${path} ${await text(request)}`);
      if (path === '/token') return send(answers.shift()!);
      send({ device_code: 'dev-1', user_code: 'WDJB-MJHT', verification_uri: `${own}/code`, expires_in: 60, interval: 0.01 });
    };
    const server = createServer((request, response) => void serve(request, response));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    try {
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const { code, out, err } = await run(['login', '--profile', 'coded', '--url', url, '--device']);
      expect([code, err]).toEqual([0, `Open ${url}/code and enter the code WDJB-MJHT.\n`]);
      expect(out).toContain('as Ada Ortiz of');
      expect(JSON.parse(readFileSync(profiles, 'utf8')).coded).toEqual({ url, credential: token });
      expect(forms).toEqual([expect.stringContaining('/device '), expect.stringContaining('device_code=dev-1'), expect.stringContaining('device_code=dev-1')]);
      expect(forms[0]).toMatch(/client_id=truckroll-cli/);
      await run(['logout', '--profile', 'coded']);
    } finally {
      server.close();
    }
    const without = await run(['login', '--url', system.baseUrl, '--device']);
    expect([without.code, without.err]).toEqual([1, `${system.baseUrl} names no issuer to sign in at: paste an API key or a user token instead.\n`]);
  });

  test('never send their credential to another address', async () => {
    const { code, err } = await run(['get', 'company', '--url', 'http://127.0.0.1:9']);
    expect([code, err]).toEqual([2, expect.stringContaining(`The profile default is for ${system.baseUrl}`)]);
  });

  test('are refused while others can read the file, or it is none', async () => {
    const kept = readFileSync(profiles, 'utf8');
    chmodSync(profiles, 0o644);
    expect((await run(['get', 'company'])).err).toContain(`run \`chmod 600 ${profiles}\``);
    chmodSync(profiles, 0o600);
    writeFileSync(profiles, 'oops');
    expect((await run(['get', 'company'])).err).toContain('is not what `truckroll login` writes: delete it');
    writeFileSync(profiles, kept);
  });

  test('name the file and the remedy where it cannot be written', async () => {
    mkdirSync(join(program.folder, 'blocked'));
    writeFileSync(join(program.folder, 'blocked/truckroll'), '');
    const env = { XDG_CONFIG_HOME: join(program.folder, 'blocked') };
    const { code, err } = await run(['login', '--url', system.baseUrl], `${company.apiKey}\n`, env);
    expect([code, err]).toEqual([2, expect.stringMatching(/blocked\/truckroll\/profiles\.json cannot be \w+ \(E\w+\): .*XDG_CONFIG_HOME/)]);
  });
});

test('creates, pauses, resumes and removes an endpoint with a user token, and says that a key may not', async () => {
  const url = 'http://127.0.0.1:4567/hook';
  const create = ['webhooks', 'create', url, '--events', 'service_request.created', 'interaction.completed'];
  const refused = await run(create);
  expect([refused.code, refused.err]).toEqual([
    1,
    expect.stringContaining(`API keys may not do this, and profile default has one. It needs a user token: put one for ${system.baseUrl} into`),
  ]);
  const env = { TRUCKROLL_URL: system.baseUrl, TRUCKROLL_TOKEN: system.userToken(company) };
  const { id, signingSecret } = await json(create, env);
  expect(signingSecret).toMatch(/^whsec_/);
  expect((await run(['webhooks', 'pause', id], '', env)).out).toBe('127.0.0.1:4567 is PAUSED.\n');
  expect((await run(['webhooks', 'list'])).out).toMatch(new RegExp(`^${id} +127\\.0\\.0\\.1:4567 +PAUSED +${url}`, 'm'));
  expect(await json(['webhooks', 'resume', id], env)).toMatchObject({ state: 'ENABLED' });
  expect((await json(['webhooks', 'rotate-secret', id], env)).signingSecret).not.toBe(signingSecret);
  const wrong = await run(['webhooks', 'test', id, '--event-type', 'invoice.paid'], '', env);
  expect([wrong.code, wrong.err]).toEqual([1, expect.stringMatching(/^eventType: /)]);
  expect((await run(['webhooks', 'delete', id], '', env)).code).toBe(0);
  expect((await run(['webhooks', 'list'])).out).toBe('There are none.\n');
});

test('keeps a copy that equals the API, and names the Node that it needs', async () => {
  await feedIsCurrent(system.baseUrl, company.apiKey);
  const copy = join(program.folder, 'copy.db');
  const first = await run(['sync', copy, '--verify']);
  expect([first.code, first.out]).toEqual([0, expect.stringContaining('They are equal.')]);
  const database = new DatabaseSync(copy);
  expect(database.prepare("SELECT count(*) AS count FROM records WHERE kind = 'accounts'").get()).toEqual({ count: 3 });
  database.close();
  // Nothing waits for the limit of digests, which only the progress needs.
  await Promise.all(Array.from({ length: 10 }, () => system.get(company, '/api/v1/integrations/changes/digest')));
  expect(await run(['sync', join(program.folder, 'tags.db'), '--only', 'tags'])).toMatchObject({ code: 0, err: '' });
  const old = NODES.find((node) => versionOf(node).startsWith('20.'))!;
  const { code, err } = await program.run(['sync', copy], { node: old });
  expect([code, err]).toEqual([2, expect.stringContaining('needs Node 22.13 or newer')]);
});

test('exports a file for each kind, as JSON lines or as CSV', async () => {
  const folder = join(program.folder, 'books');
  expect((await run(['export', folder, '--only', 'accounts', 'invoices'])).out).toContain('3 records exported.');
  expect(readdirSync(folder).toSorted()).toEqual(['accounts.ndjson', 'invoices.ndjson']);
  const ids = readFileSync(join(folder, 'accounts.ndjson'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).id);
  expect(ids.toSorted()).toEqual(accounts.map(({ id }) => id).toSorted());
  await run(['export', folder, '--only', 'accounts', '--csv']);
  expect(readFileSync(join(folder, 'accounts.csv'), 'utf8')).toMatch(/^"id","name",.*\n"[0-9a-f-]{36}","'=Customer \d",/);
  rmSync(folder, { recursive: true });
});

test('lists what keys requested', async () => {
  const seen = await until('the log to have a request', async () => {
    const { out } = await run(['requests', '--status', '200', '--json']);
    return out.split('\n').find((line) => line.includes('/v1/company'));
  });
  expect(JSON.parse(seen!)).toMatchObject({ method: 'GET', status: 200 });
});

test('serves an assistant over standard input and output, with the credential of the profile', async () => {
  const asked = {
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 't', version: '1' } },
  };
  const { out } = await run(['mcp'], `${JSON.stringify(asked)}\n`);
  expect(JSON.parse(out)).toMatchObject({ id: 1, result: { protocolVersion: '2025-11-25' } });
});
