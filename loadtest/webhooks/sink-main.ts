// Webhook receivers in their own process, so that receiving does not delay the measuring process: one answers at once and reports receipts,
// one only answers, one accepts connections and never answers, and one answers after ten seconds.
import { createServer, type Server, type ServerResponse } from 'node:http';
import { createServer as createTcpServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { now } from '@truckroll/contract';
import type { Receipt } from './sinks.ts';

/** Interval at which receipts are sent to the parent. */
const REPORT_MS = 20;
const SLOW_MS = 10_000;

let receipts: Receipt[] = [];

const well = receiver((response, body) => {
  const at = now();
  response.writeHead(204).end();
  const { id, timestamp } = JSON.parse(body) as { id: string; timestamp: string };
  receipts.push([id, timestamp, at]);
});
const uncounted = receiver((response) => response.writeHead(204).end());
const slow = receiver((response) => setTimeout(() => response.end(), SLOW_MS));
const hanging = createTcpServer((socket) => void socket.on('error', () => undefined).resume());

// Their ports are this process's arguments.
for (const [place, server] of [well, uncounted, hanging, slow].entries())
  await new Promise<void>((resolve) => server.listen(Number(process.argv[place + 2]), '127.0.0.1', () => resolve()));
process.send?.('ready');
setInterval(() => {
  if (receipts.length === 0) return;
  process.send?.(receipts);
  receipts = [];
}, REPORT_MS);
// Exits with its parent, even if that is killed.
process.once('disconnect', () => process.exit());

function receiver(answer: (response: ServerResponse, body: string) => void): Server {
  // Longer than the dispatcher keeps connections.
  return createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    text(request).then(
      (body) => answer(response, body),
      () => response.destroy(),
    );
  });
}
