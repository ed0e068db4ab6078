// Which bodies a gateway reads: both sides of the limit, and the encodings and charsets that it knows.
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import type { ErrorDetail } from '@truckroll/contract';
import { MOST_BODY_BYTES, parseJsonBody, readBody } from '../src/http/body.ts';
import { operation } from './support/operation.ts';

const NONE = { typeName: '', doc: '', fields: [], byName: new Map() };

let server: Server;
beforeAll(async () => {
  server = createServer((req, res) => {
    readBody(req).then(
      (body) => res.end(String(body.length)),
      (error: { status: number; details: ErrorDetail[] }) => res.writeHead(error.status).end(error.details.map(({ field, code }) => `${field} ${code}`).join()),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterAll(() => void server.close());

/** What the server answers to a body that is sent in `parts`, with its length if there is only one. */
function sent(parts: readonly Buffer[], headers: Record<string, string> = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    const { port } = server.address() as AddressInfo;
    const length = parts.length === 1 ? { 'content-length': String(parts[0]!.length) } : {};
    const out = request({ port, host: '127.0.0.1', method: 'POST', agent: false, headers: { ...length, ...headers } }, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      answer.on('end', () => resolve(text));
    });
    out.on('error', reject);
    for (const part of parts) out.write(part);
    out.end();
  });
}

test('the limit is that of the documentation', () => {
  expect(MOST_BODY_BYTES).toBe(65_536);
});

const ENCODINGS = { gzip: gzipSync, 'x-gzip': gzipSync, deflate: deflateSync, br: brotliCompressSync } as const;

describe.each([
  [65_536, '65536'],
  [65_537, 'body TOO_LARGE'],
])('a body of %i bytes', (length, answer) => {
  const body = Buffer.alloc(length, 'x');

  test('with its length', async () => {
    expect(await sent([body])).toBe(answer);
  });

  test('in chunks', async () => {
    expect(await sent([body.subarray(0, 40_000), body.subarray(40_000)])).toBe(answer);
  });

  test.each(Object.entries(ENCODINGS))('compressed with %s', async (encoding, compress) => {
    expect(await sent([compress(body)], { 'content-encoding': encoding })).toBe(answer);
  });
});

test.each([
  ['identity', '{}', '2'],
  ['gzip', '', '0'],
  [' GZIP ', '{}', 'body INVALID_FORMAT'],
  ['zstd', '{}', 'Content-Encoding INVALID_FORMAT'],
  ['constructor', '{}', 'Content-Encoding INVALID_FORMAT'],
  ['gzip, br', '{}', 'Content-Encoding INVALID_FORMAT'],
])('with the encoding %j, answers to %j: %s', async (encoding, body, answer) => {
  expect(await sent([Buffer.from(body)], { 'content-encoding': encoding })).toBe(answer);
});

test.each([
  [undefined, []],
  ['application/json', []],
  ['Application/JSON ; Charset=utf8', []],
  ['application/json; charset="UTF-8"', []],
  ['application/merge-patch+json;charset=utf-8', []],
  ['application/json; charset=utf-16', ['Content-Type']],
  ['application/jsonp', ['Content-Type']],
  ['text/json', ['Content-Type']],
  ['', ['Content-Type']],
])('of the type %j, refuses %j', (type, fields) => {
  const problems: ErrorDetail[] = [];
  const parsed = parseJsonBody(Buffer.from('{"a":"ü"}'), type, NONE, 'snake', problems);
  expect([problems.map(({ field }) => field), parsed]).toEqual([fields, fields.length === 0 ? { a: 'ü' } : undefined]);
});

const nested = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`;

test.each<[string, string, string[]]>([
  ['a key given twice', '{"name":"a","name":"b"}', ['name UNKNOWN_FIELD Give it once: it is given twice.']],
  ['a nested key given twice', '{"filter":{"status":{"$eq":"NEW","$eq":"BOOKED"}}}', ['filter.status.$eq UNKNOWN_FIELD Give it once: it is given twice.']],
  ['an integer that a double rounds', '{"maxPerSecond":1.00000000000000000001}', ['maxPerSecond INVALID_FORMAT Give an integer.']],
  ['lists nested 32 deep', nested(32), []],
  ['lists nested 33 deep', nested(33), ['body INVALID_FORMAT Nest no deeper than 32 lists and objects.']],
  ['a filter nested 7,000 deep', `{"filter":${'{"a":'.repeat(7000)}1${'}'.repeat(7001)}`, ['body INVALID_FORMAT Nest no deeper than 32 lists and objects.']],
  ['a byte-order mark', '\ufeff{}', []],
  ['two byte-order marks', '\ufeff\ufeff{}', ['body INVALID_FORMAT The body is not JSON in UTF-8: send a JSON object.']],
])('of a body with %s, finds its problems', (_, text, expected) => {
  const problems: ErrorDetail[] = [];
  const shape = operation('CreateWebhook').request;
  parseJsonBody(Buffer.from(text), undefined, shape, 'camel', problems);
  expect(problems.map(({ field, code, message }) => `${field} ${code} ${message}`)).toEqual(expected);
});
