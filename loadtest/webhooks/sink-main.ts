// Webhook receivers in their own process, so that receiving does not delay the measuring process: one answers at once and reports receipts,
// one only answers, one accepts connections and never answers, and one answers after ten seconds.
import { createServer, type IncomingMessage } from 'node:http';
import { createServer as createTcpServer } from 'node:net';
import { now } from '@truckroll/contract';
import type { Receipt } from './sinks.ts';

/** Interval at which receipts are sent to the parent. */
const REPORT_MS = 20;
const SLOW_MS = 10_000;

const [wellPort, uncountedPort, hangingPort, slowPort] = process.argv.slice(2).map(Number);
let receipts: Receipt[] = [];

const well = createServer((request, response) => {
  read(request).then(
    (text) => {
      const at = now();
      response.writeHead(204).end();
      const { id, timestamp } = JSON.parse(text) as { id: string; timestamp: string };
      receipts.push([id, timestamp, at]);
    },
    () => response.destroy(),
  );
});
const uncounted = createServer((request, response) => {
  read(request).then(
    () => response.writeHead(204).end(),
    () => response.destroy(),
  );
});
const slow = createServer((request, response) => {
  read(request).then(
    () => setTimeout(() => response.end(), SLOW_MS),
    () => response.destroy(),
  );
});
// Longer than the dispatcher keeps connections.
for (const server of [well, uncounted, slow]) server.keepAliveTimeout = 60_000;
const hanging = createTcpServer((socket) => void socket.on('error', () => undefined).resume());

for (const [server, port] of [
  [well, wellPort],
  [uncounted, uncountedPort],
  [hanging, hangingPort],
  [slow, slowPort],
] as const) {
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', () => resolve()));
}
process.send?.('ready');
setInterval(() => {
  if (receipts.length === 0) return;
  process.send?.(receipts);
  receipts = [];
}, REPORT_MS);
// Exits with its parent, even if that is killed.
process.once('disconnect', () => process.exit());

async function read(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
