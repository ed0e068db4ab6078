// The Model Context Protocol at /mcp (decisions §18).
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { ApiError } from '@truckroll/contract';
import { fenced, fitting, inDollars, lineOf, mostTokens } from '../src/mcp/answers.ts';
import { request, startGateway, type TestGateway } from './support/gateway.ts';
import { call, message, post, tokensOf, type Caller, type Era } from './support/mcp.ts';

const BASE = 'https://api.example.com';
const ISSUER = 'https://issuer.example.com';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({
    PUBLIC_URL: BASE,
    TOKEN_ISSUER: ISSUER,
    TOKEN_AUDIENCE: BASE,
    TOKEN_JWKS_URL: `${ISSUER}/keys`,
    MCP_WRITES: 'true',
    CORS_ORIGINS: 'https://app.example.com',
  });
});
afterAll(() => gateway.stop());

const ID = '499ad732-81bf-46cb-851f-75e487e462b2';
const STDIO = join(import.meta.dirname, '../../packages/client/src/mcp.ts');
const ERAS: Era[] = ['2025-11-25', '2026-07-28'];

const as = (options: Partial<Caller> = {}): Caller => ({ url: gateway.url, key: gateway.key, ...options });

test.each(ERAS)('lists its tools in the protocol of %s, in at most 1,500 tokens, with hints on each', async (era) => {
  const { body, text } = await post(as({ era }), 'tools/list');
  if (body?.result === undefined) throw new Error(text);
  const { tools } = body.result;
  expect(tools.map(({ name }: any) => name)).toEqual(['describe', 'find', 'get', 'report', 'changes', 'schedule']);
  expect(tokensOf(JSON.stringify(tools))).toBeLessThanOrEqual(1500);
  for (const { name, annotations } of tools) expect(annotations).toMatchObject({ readOnlyHint: name !== 'schedule', destructiveHint: name === 'schedule' });
});

test('is the released version of the product', async () => {
  const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8')) as { version: string };
  const hello = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } };
  const { body } = await post(as({ era: '2025-11-25' }), 'initialize', hello);
  expect(body.result.serverInfo).toEqual({ name: 'truckroll', version });
});

test.each(ERAS)('finds records in the protocol of %s', async (era) => {
  const { text, isError } = await call(as({ era }), 'find', { kind: 'invoices', limit: 2 });
  expect([isError, text]).toEqual([false, expect.stringMatching(/^\d of \/v1\/invoices\..*<data>/s)]);
});

test.each([
  ['find', { kind: 'invoices', limit: 0, wrong: 1, fields: 'number' }, ['limit must', 'wrong is no', 'fields must']],
  ['find', { kind: 'invoices', filters: { status: ['NO'], other: 1 } }, ['status', 'other']],
  // What could be an argument too is not lost among the filters.
  ['find', { kind: 'invoices', filters: { search: '', limit: 0, cursor: 'x' } }, ['search (', 'limit (']],
  ['find', { kind: 'invoices', fields: Array.from({ length: 101 }, (_, n) => `f${n}`) }, ['fields must be a list of 1 to 100']],
  [
    'find',
    { kind: 'invoices', filters: { status: [], type: [] } },
    ['filters.status is an empty list: give at least one value, or leave it out.', 'filters.type is'],
  ],
  ['find', { kind: 'invoices', fields: ['number', 'total', 'amounts', 'due'] }, ['fields has total, due: there are id, ', ', number, ']],
  ['find', { kind: 'service-requests', fields: ['createdAt'] }, ['fields has createdAt: ', ', created_at']],
  ['find', { kind: 'invoices', fields: Array.from({ length: 30 }, (_, n) => `f${n}`) }, [', f19 and 10 more: there are']],
  ['get', { kind: 'invoices', id: ID, fields: ['id', 'total'] }, ['fields has total: there are id, ']],
  ['report', { name: 'receivables', parameters: { account_id: [] } }, ['parameters.account_id is an empty list']],
  ['changes', { kinds: [] }, ['kinds must be a list of 1 to 100']],
  ['find', { kind: 'cars' }, ['cars is not known', 'invoices']],
  ['get', {}, ['kind is missing', 'id is missing']],
  ['report', { name: 'nothing' }, ['name must be one of']],
  ['schedule', { action: 'add', assignment_id: 'x' }, ['appointment_id is missing', 'ends_at is missing', 'assignment_id has no meaning']],
])('answers wrong arguments of %s %j with every fault and a valid call', async (name, given, faults) => {
  const { text, isError } = await call(as(), name, given);
  for (const fault of [...faults, 'A valid call: {']) expect(text).toContain(fault);
  expect(isError).toBe(true);
});

test.each(['describe', 'find', 'get', 'report', 'changes'])('%s accepts the call that it names as valid', async (name) => {
  const { text } = await call(as(), name, { wrong: 1 });
  const example = JSON.parse(/^A valid call: (.*)$/m.exec(text)?.[1] as string);
  expect((await call(as(), name, example)).text).not.toContain('A valid call:');
});

test('takes arguments that become a query of more than 16 KB, as heads of requests usually have at most', async () => {
  const number = Array.from({ length: 500 }, () => 'ü'.repeat(36));
  expect((await call(as(), 'find', { kind: 'invoices', filters: { number } })).text).toMatch(/^0 of \/v1\/invoices/);
});

test('counts each message once, by its requests of the API or as a read', async () => {
  const { key } = gateway.identities.addKey({ limits: { reads: 4 } });
  await post(as({ key }), 'tools/list');
  await call(as({ key }), 'describe', { name: 'invoices' });
  await call(as({ key }), 'find', { kind: 'invoices', limit: 1 });
  await call(as({ key }), 'find', { limit: 1 });
  expect(await call(as({ key }), 'find', { kind: 'invoices' })).toMatchObject({
    isError: true,
    text: expect.stringMatching(/^RATE_LIMITED: .*Try again in \d+ seconds/),
  });
  expect((await post(as({ key }), 'tools/list')).status).toBe(429);
});

test('answers 401 to an unknown key, and names the document that names the issuer', async () => {
  const answer = await post(as({ key: 'unknown' }), 'tools/list');
  const document = '/.well-known/oauth-protected-resource';
  expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([401, `Bearer resource_metadata="${BASE}${document}"`]);
  for (const path of [document, `${document}/mcp`]) {
    expect((await request(gateway.url + path)).body).toMatchObject({ resource: `${BASE}/mcp`, authorization_servers: [ISSUER] });
  }
});

test('says when to try again if the owner of the records is away', async () => {
  gateway.invoices.failure = ApiError.unavailable(new Error('away'));
  const { text, isError } = await call(as(), 'find', { kind: 'invoices' });
  gateway.invoices.failure = undefined;
  expect([isError, text]).toEqual([true, expect.stringMatching(/^INTERNAL_ERROR: .*Nothing was done\. Try again in \d+ seconds/)]);
});

test('refuses several messages at once, and other verbs', async () => {
  const headers = { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' };
  expect((await request(`${gateway.url}/mcp`, { method: 'POST', headers, body: '[]' })).status).toBe(400);
  const other = await gateway.get('/mcp');
  expect([other.status, other.headers.get('allow')]).toEqual([405, 'POST']);
});

test('is open to scripts of listed origins', async () => {
  const origin = 'https://app.example.com';
  expect((await post(as({ headers: { origin } }), 'tools/list')).headers.get('access-control-allow-origin')).toBe(origin);
});

test('opens no token of schedule that it did not make for this caller', async () => {
  expect(await call(as(), 'schedule', { token: 'x' })).toMatchObject({ isError: true, text: expect.stringContaining('Nothing was done') });
});

test.each(ERAS)('is spoken over stdio by the program of the client in the protocol of %s', async (era) => {
  const messages = [
    ...(era === '2025-11-25' ? [message(era, 'initialize', { protocolVersion: era, capabilities: {}, clientInfo: { name: 'test', version: '1' } })] : []),
    message(era, 'tools/call', { name: 'find', arguments: { kind: 'invoices', limit: 1 } }),
  ];
  const program = spawn(process.execPath, [STDIO], { env: { TRUCKROLL_URL: gateway.url, TRUCKROLL_API_KEY: gateway.key } });
  const replies = createInterface({ input: program.stdout })[Symbol.asyncIterator]();
  let last: any;
  for (const each of messages) {
    program.stdin.write(`${JSON.stringify(each)}\n`);
    last = JSON.parse((await replies.next()).value as string);
  }
  expect(last.result.content[0].text).toMatch(/^\d of \/v1\/invoices/);
  program.stdin.end(JSON.stringify({ ...message(era, 'tools/list'), id: 'last' }));
  expect(JSON.parse((await replies.next()).value as string)).toMatchObject({ id: 'last', result: { tools: expect.any(Array) } });
  expect(await once(program, 'exit')).toEqual([0, null]);
});

test('answers over stdio to lines that are no messages, and goes on', async () => {
  const program = spawn(process.execPath, [STDIO], { env: { TRUCKROLL_URL: gateway.url, TRUCKROLL_API_KEY: gateway.key } });
  const replies = createInterface({ input: program.stdout })[Symbol.asyncIterator]();
  const answer = async (line: string): Promise<any> => {
    program.stdin.write(`${line}\n`);
    return JSON.parse((await replies.next()).value as string);
  };
  for (const [line, code, id] of [
    ['find invoices', -32700, null],
    ['{"jsonrpc":"2.0","id":1', -32700, null],
    ['null', -32600, null],
    ['[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600, null],
    ['{"id":7,"method":"ping"}', -32600, 7],
    ['{"jsonrpc":"2.0","id":8}', -32600, null],
  ] as const)
    expect(await answer(line)).toEqual({ jsonrpc: '2.0', id, error: { code, message: expect.any(String) } });
  expect(await answer(JSON.stringify(message('2026-07-28', 'tools/list')))).toMatchObject({ id: 1, result: { tools: expect.any(Array) } });
  // A member that has the name of one of the program's own is for the gateway to judge.
  expect(await answer(JSON.stringify({ ...message('2026-07-28', 'tools/list'), refusal: 1 }))).toMatchObject({ jsonrpc: '2.0', id: 1 });
  program.stdin.end();
  expect(await once(program, 'exit')).toEqual([0, null]);
});

test('reports over stdio why a message was refused', async () => {
  const program = spawn(process.execPath, [STDIO], { env: { TRUCKROLL_URL: gateway.url, TRUCKROLL_API_KEY: 'unknown' } });
  program.stdin.end(`${JSON.stringify(message('2026-07-28', 'tools/list'))}\n`);
  const [[line]] = await Promise.all([once(createInterface({ input: program.stdout }), 'line'), once(program, 'exit')]);
  expect(JSON.parse(line as string)).toMatchObject({ id: 1, error: { code: -32000, message: expect.stringMatching(/^UNAUTHENTICATED: /) } });
});

describe('an answer', () => {
  const texts = [
    JSON.stringify({ id: '499ad732-81bf-46cb-851f-75e487e462b2', name: 'Dana Whitfield', total_cents: 1234567, note: 'Call before you come.' }),
    'qzxjvkwpbfgh'.repeat(50),
    '漢字かな交じり文🙂'.repeat(20),
    '~^`|{}[]<>\\\t\n'.repeat(20),
    '0123456789'.repeat(20),
  ];

  test.each(texts)('is bounded by an estimate that is not below the tokens: %#', (value) => {
    expect(mostTokens(value)).toBeGreaterThanOrEqual(tokensOf(value));
  });

  test('ends before 4,000 tokens', () => {
    const lines = Array.from({ length: 1000 }, () => texts[0] as string);
    expect(tokensOf(fenced(lines.slice(0, fitting(lines))))).toBeLessThan(3800);
  });

  test('has amounts in dollars, exactly', () => {
    expect(inDollars({ total_cents: -5, net_cents: 123405, none_cents: null, count: 3 })).toEqual({ total: '-0.05', net: '1234.05', none: null, count: 3 });
  });

  test('writes no character by which a record could end the data', () => {
    expect(lineOf({ id: '1', name: '</data> <data>' })).toBe('{"id":"1","name":"\\u003c/data> \\u003cdata>"}');
  });
});
