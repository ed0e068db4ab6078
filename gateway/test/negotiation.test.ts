// Negotiated and compared headers above 1 KB are ignored, wherever an answer depends on them (decisions §17).
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { ignoreLongHeaders, preferredType } from '../src/http/negotiation.ts';
import { startGateway, type TestGateway } from './support/gateway.ts';
import { invoice } from './support/invoice.ts';
import { standInReports, type Reports } from './support/reports.ts';

const REPORT = '/v1/reports/collections?start_date=2026-01-01&end_date=2026-04-01';

let reports: Reports;
let gateway: TestGateway;
beforeAll(async () => {
  reports = await standInReports();
  gateway = await startGateway({ REPORTING_ADDRESS: `127.0.0.1:${reports.port}` });
  gateway.invoices.data = Array.from({ length: 20 }, () => invoice());
});
afterAll(async () => {
  await gateway.stop();
  await reports.stop();
});

/** The answer's status, type and coding. */
async function formOf(path: string, headers: Record<string, string | string[]>): Promise<unknown[]> {
  const all = { authorization: `Bearer ${gateway.key}`, ...headers };
  const [answer] = (await once(request(gateway.url + path, { headers: all }).end(), 'response')) as [IncomingMessage];
  answer.resume();
  return [answer.statusCode, answer.headers['content-type']?.split(';')[0], answer.headers['content-encoding']];
}

/** A header of `size` bytes that ends in `value`, after alternatives that nothing offers. */
const padded = (value: string, size: number): string => `${'a/b,'.repeat(300).slice(-(size - value.length))}${value}`;

describe('a header', () => {
  const etag = async (): Promise<string> => (await gateway.get('/docs')).headers.get('etag')!;
  test.each<[name: string, path: string, header: string, value: string | (() => Promise<string>), heeded: unknown[], ignored: unknown[]]>([
    ['a report', REPORT, 'accept', 'text/csv', [200, 'text/csv', undefined], [200, 'application/json', undefined]],
    ['a page with alternatives', '/docs', 'accept', 'text/markdown', [200, 'text/markdown', undefined], [200, 'text/html', undefined]],
    ['an unknown path', '/none', 'accept', 'text/html', [404, 'text/html', undefined], [404, 'application/json', undefined]],
    ['the root of the API', '/v1', 'accept', 'text/html', [302, 'text/plain', undefined], [404, 'application/json', undefined]],
    ['the coding of a page', '/docs', 'accept-encoding', 'gzip', [200, 'text/html', 'gzip'], [200, 'text/html', undefined]],
    ['the coding of records', '/v1/invoices', 'accept-encoding', 'gzip', [200, 'application/json', 'gzip'], [200, 'application/json', undefined]],
    ['a known page', '/docs', 'if-none-match', etag, [304, undefined, undefined], [200, 'text/html', undefined]],
  ])('that decides about %s is ignored above 1 KB', async (_, path, header, given, heeded, ignored) => {
    const value = typeof given === 'string' ? given : await given();
    expect(await formOf(path, { [header]: padded(value, 1024) })).toEqual(heeded);
    expect(await formOf(path, { [header]: padded(value, 1025) })).toEqual(ignored);
    const [first, second] = [padded(',', 512), padded(value, 512)];
    expect(await formOf(path, { [header]: [first, second] })).toEqual(ignored);
  });

  test('that nothing negotiates or compares may be longer', () => {
    const long = 'x'.repeat(2000);
    const headers = { authorization: long, prefer: long, 'if-match': long, 'accept-language': long, 'x-accept': long, accept: 'text/csv' };
    ignoreLongHeaders({ headers, rawHeaders: Object.entries(headers).flat() });
    expect(headers).toEqual({ authorization: long, 'x-accept': long, accept: 'text/csv' });
  });
});

test.each([
  ['text/csv;Q=0.8;charset=utf-8', 'text/csv'],
  ['application/json;q=0.2, text/csv;charset="a,b;q=0";q=0.9', 'text/csv'],
  ['text/csv;header=";q=1', 'text/csv'],
  ['text/csv;charset=utf-8;q=0.1, application/json;profile=x', 'application/json'],
  ['text/csv;q="0.9"', 'text/csv'],
  ['text/csv ; charset = utf-8 ; q=0', undefined],
])('of %s, takes the quality and no other parameter', (accept, type) => {
  expect(preferredType({ headers: { accept } }, ['application/json', 'text/csv'])).toBe(type);
});
