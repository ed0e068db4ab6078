// Which answers are compressed, and which never are.
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';
import { operations, type Shape } from '@truckroll/contract';
import { QUICK, chooseEncoding } from '../src/http/encodings.ts';
import { mayBeCompressed } from '../src/routes/operation.ts';
import { startGateway, type TestGateway } from './support/gateway.ts';
import { invoice } from './support/invoice.ts';
import { rawRequest } from './support/raw.ts';

let gateway: TestGateway;
let plain: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
  plain = await startGateway({ COMPRESS_DATA: 'false' }, gateway);
});
afterAll(async () => {
  await plain.stop();
  await gateway.stop();
});

const get = ({ url, key }: TestGateway, path: string, encoding?: string) =>
  rawRequest(url + path, { authorization: `Bearer ${key}`, ...(encoding !== undefined && { 'accept-encoding': encoding }) });

const rows = (count: number) => Array.from({ length: count }, (_, at) => invoice({ number: `INV-${at} Ünïcode` }));

test.each([
  ['gzip, deflate, br, zstd', 'zstd', zstdDecompressSync],
  ['gzip, deflate, br', 'br', brotliDecompressSync],
  ['gzip', 'gzip', gunzipSync],
  ['zstd;q=0.1, gzip', 'gzip', gunzipSync],
])('sends a large page complete and small to a client that asks by %s', async (asked, encoding, decode) => {
  gateway.invoices.data = rows(100);
  const { headers, bytes } = await get(gateway, '/v1/invoices', asked);
  expect([headers['content-encoding'], headers.vary, headers['content-length']]).toEqual([encoding, 'Accept-Encoding', String(bytes.length)]);
  const body = JSON.parse(decode(bytes).toString());
  expect(body.data.map(({ number }: { number: string }) => number)).toEqual(rows(100).map(({ number }) => number));
  expect(body.meta.request_id).toBe(headers['x-request-id']);
  expect(bytes.length).toBeLessThan(decode(bytes).length / 3);
});

test('does not compress small answers, or for clients that accept no known coding', async () => {
  gateway.invoices.data = rows(100);
  for (const asked of [undefined, '', 'identity', 'deflate', 'zstd;q=0, gzip;q=0']) {
    const { headers, bytes } = await get(gateway, '/v1/invoices', asked);
    expect([asked, headers['content-encoding'], headers.vary]).toEqual([asked, undefined, 'Accept-Encoding']);
    expect(JSON.parse(bytes.toString()).data).toHaveLength(100);
  }
  gateway.invoices.data = rows(2);
  expect((await get(gateway, '/v1/invoices', 'gzip')).headers['content-encoding']).toBeUndefined();
});

test('reuses the buffers of compressed answers without leaking bytes of the previous answer', async () => {
  gateway.invoices.data = rows(100);
  const ids = gateway.invoices.data.map(({ id }) => id);
  await Promise.all(
    Array.from({ length: 60 }, async (_, at) => {
      const { headers, bytes } = await get(gateway, '/v1/invoices', at % 3 === 0 ? 'identity' : 'gzip');
      const { data } = JSON.parse((headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes).toString());
      expect(data.map(({ id }: { id: string }) => id)).toEqual(ids);
    }),
  );
});

test('prefers for each kind of answer the coding that suits it, whatever another kind was given before', () => {
  const accepted = 'gzip, deflate, br, zstd';
  const lasting = ['br', 'zstd', 'gzip'] as const;
  for (let times = 0; times < 2; times += 1) {
    expect([chooseEncoding(accepted, lasting), chooseEncoding(accepted, QUICK), chooseEncoding(accepted, ['gzip'])]).toEqual(['br', 'zstd', 'gzip']);
  }
});

test('errors depend on the same headers as answers do, once the operation is known', async () => {
  const vary = async (path: string) => (await get(gateway, path)).headers.vary;
  expect([await vary('/v1/invoices?x=1'), await vary('/v1/reports/collections?x=1'), await vary('/v1/nothing')]).toEqual([
    'Accept-Encoding',
    'Accept, Accept-Encoding',
    undefined,
  ]);
});

test('can be turned off by the operator', async () => {
  gateway.invoices.data = rows(100);
  const { headers } = await get(plain, '/v1/invoices', 'gzip');
  expect([headers['content-encoding'], headers.vary]).toEqual([undefined, undefined]);
});

test('never compresses an answer that may contain a secret', () => {
  const names = (shape: Shape, seen = new Set<Shape>()): string[] => {
    if (seen.has(shape)) return [];
    seen.add(shape);
    return shape.fields.flatMap((field) => [`${shape.typeName}.${field.name}`, ...(field.shape ? names(field.shape, seen) : [])]);
  };
  const secret = (name: string) => /secret|token|password|\.ApiKey\w*\.(key|value)$/.test(name);
  for (const operation of operations.filter(mayBeCompressed)) expect([operation.name, names(operation.response).filter(secret)]).toEqual([operation.name, []]);
  const holding = operations.filter(({ response }) => names(response).some(secret)).map(({ name }) => name);
  expect(holding).toEqual(expect.arrayContaining(['CreateWebhook', 'RotateWebhookSecret', 'CreateApiKey', 'RotateApiKey']));
});
