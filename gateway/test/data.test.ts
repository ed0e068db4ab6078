// When an answer made for one request is compressed, and when it is no longer sent.
import { gunzipSync } from 'node:zlib';
import type { Exchange } from '../src/http/exchange.ts';
import { sendSmall } from '../src/http/data.ts';

function sending(bytes: number, acceptEncoding: string | undefined) {
  const head: unknown[] = [];
  const body: Buffer[] = [];
  const res = { destroyed: false, writeHead: (...parts: unknown[]) => void head.push(...parts), end: (text: Buffer) => void body.push(text) };
  const exchange = { req: { headers: { 'accept-encoding': acceptEncoding } }, res, requestId: 'r-1' } as unknown as Exchange;
  const sent = sendSmall(exchange, 201, Buffer.alloc(bytes, 'x'), 'text/csv', ['Vary', 'Accept'], { active: false });
  const headers = () => head[1] as string[];
  return { sent, res, body, status: () => head[0], headers, ending: () => headers().slice(10) };
}

test.each([
  ['of less than 8 KiB', 8191, 'gzip'],
  ['for a client that accepts no coding', 8192, undefined],
  ['for a client that accepts other codings', 8192, 'compress'],
])('sends an answer %s as it is, at once', (_, bytes, asked) => {
  const { sent, body, ending, status } = sending(bytes, asked);
  expect([sent, status(), ending(), body[0]?.length]).toEqual([undefined, 201, ['Vary', 'Accept'], bytes]);
});

test('compresses an answer of 8 KiB, and says how', async () => {
  const { sent, body, headers, ending, status } = sending(8192, 'gzip');
  expect(body).toEqual([]);
  await sent;
  expect([status(), ending()]).toEqual([201, ['Vary', 'Accept', 'Content-Encoding', 'gzip']]);
  expect(gunzipSync(body[0]!)).toEqual(Buffer.alloc(8192, 'x'));
  expect(headers().slice(0, 4)).toEqual(['Content-Type', 'text/csv', 'Content-Length', String(body[0]!.length)]);
});

test('sends nothing to a client that left while its answer was compressed', async () => {
  const { sent, body, res, status } = sending(8192, 'gzip');
  res.destroyed = true;
  await sent;
  expect([status(), body]).toEqual([undefined, []]);
});
