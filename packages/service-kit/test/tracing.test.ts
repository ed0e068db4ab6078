import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { freshDatabase } from '@truckroll/testing';
import { Database, startTracing, traceHeaders, withSpan } from '../src/index.ts';
import { startEcho } from './echo.ts';

interface Span {
  name: string;
  kind: number;
  traceId: string;
  spanId: string;
  parentSpanId?: string;
}

/** An OpenTelemetry collector that keeps what it is sent. */
async function startCollector() {
  const spans: Span[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = JSON.parse(Buffer.concat(chunks).toString()) as { resourceSpans: { scopeSpans: { spans: Span[] }[] }[] };
      spans.push(...body.resourceSpans.flatMap((resource) => resource.scopeSpans.flatMap((scope) => scope.spans)));
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  return { spans, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => server.close() };
}

test('without an endpoint nothing is traced and nothing is propagated', async () => {
  const stop = await startTracing('trial', undefined);
  await withSpan('work', 'INTERNAL', {}, async () => expect(traceHeaders()).toEqual({}));
  await stop();
});

test('one trace leads from the caller over gRPC to the SQL statement', async () => {
  const collector = await startCollector();
  const stop = await startTracing('trial', collector.url);
  const server = await freshDatabase({});
  const database = new Database({ url: server.url });
  const echo = await startEcho({
    say: async (word) => {
      await database.query({ name: 'one', text: 'select 1' });
      return word;
    },
  });
  await withSpan('request', 'SERVER', {}, () => echo.client.say({ text: 'x' }));
  await echo.stop();
  await database.close();
  await server.drop();
  await stop();
  collector.close();
  const byName = (name: string, kind: number) => collector.spans.find((span) => span.name === name && span.kind === kind)!;
  const chain = [byName('request', 2), byName('/test.Echo/Say', 3), byName('/test.Echo/Say', 2), byName('sql one', 3)];
  expect(new Set(chain.map((span) => span.traceId)).size).toBe(1);
  expect(chain.slice(1).map((span) => span.parentSpanId)).toEqual(chain.slice(0, -1).map((span) => span.spanId));
});
