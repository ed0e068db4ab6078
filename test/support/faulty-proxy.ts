// An HTTP proxy that injects the faults of networks, load balancers and overloaded gateways, chosen by a seed.
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Chance } from '../../tools/cli/src/simulate/chance.ts';

/** Possible faults of a request. When `reached` is true, the server has processed it. */
const FAULTS = [
  { name: 'reset before it was sent on', reached: false, apply: (response: ServerResponse) => void response.destroy() },
  { name: 'reset before the answer', reached: true, apply: (response: ServerResponse) => void response.destroy() },
  {
    name: 'cut off in the middle of the answer',
    reached: true,
    apply: (response: ServerResponse) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' }).write('{"data":', () => response.destroy());
    },
  },
  { name: '429', reached: false, apply: (response: ServerResponse) => void sayError(response, 429, 'RATE_LIMITED') },
  { name: '503', reached: false, apply: (response: ServerResponse) => void sayError(response, 503, 'INTERNAL_ERROR') },
  { name: '500 after it was done', reached: true, apply: (response: ServerResponse) => void sayError(response, 500, 'INTERNAL_ERROR') },
  {
    name: '504 of a balancer',
    reached: true,
    apply: (response: ServerResponse) => void response.writeHead(504, { 'content-type': 'text/html' }).end('<h1>Gateway Timeout</h1>'),
  },
] as const;

export interface FaultyProxy {
  readonly url: string;
  readonly met: ReadonlyMap<string, number>;
  close(): Promise<void>;
}

/** `share` is the share of requests with a fault, from 0 to 1. */
export async function openFaultyProxy(target: string, chance: Chance, share: number): Promise<FaultyProxy> {
  const met = new Map<string, number>(FAULTS.map(({ name }) => [name, 0]));
  const server = createServer((incoming, response) => {
    const fault = chance.happens(share) ? FAULTS[Math.floor(chance.next() * FAULTS.length)] : undefined;
    if (fault !== undefined) met.set(fault.name, (met.get(fault.name) ?? 0) + 1);
    if (fault?.reached === false) return fault.apply(response);
    forward(target, incoming, response, (answer) => {
      if (fault === undefined) {
        response.writeHead(answer.statusCode as number, answer.headers);
        answer.pipe(response);
      } else {
        answer.resume().once('end', () => fault.apply(response));
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    met,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function forward(target: string, incoming: IncomingMessage, response: ServerResponse, then: (answer: IncomingMessage) => void): void {
  const { method, headers } = incoming;
  incoming.pipe(request(`${target}${incoming.url}`, { method, headers }, then).once('error', () => response.destroy()));
}

function sayError(response: ServerResponse, status: number, code: string): void {
  const error = { code, message: 'Try again.', request_id: 'proxy', details: [] };
  response.writeHead(status, { 'content-type': 'application/json', 'retry-after': '0' }).end(JSON.stringify({ error }));
}
