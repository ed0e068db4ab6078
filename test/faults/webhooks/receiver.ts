// One server for all integrators: each endpoint is a path with its own behaviour.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { choosePort } from '@truckroll/local-stack';
import { judge } from '../../../tools/cli/src/listen/verdict.ts';
import type { Arrival } from './check.ts';

export type Manner = (eventId: string, time: number) => { readonly status: number; readonly afterMs: number };

export interface Receiver {
  readonly target: string;
  readonly arrivals: Arrival[];
  /** The URL of an endpoint. Its secret is set with `expect` once it is known. */
  url(name: string): string;
  expect(name: string, secret: string, manner: Manner): void;
  close(): Promise<void>;
}

export async function startReceiver(): Promise<Receiver> {
  const arrivals: Arrival[] = [];
  const endpoints = new Map<string, { secret: string; manner: Manner; times: Map<string, number> }>();

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const name = (request.url ?? '').slice(1);
    const endpoint = endpoints.get(name);
    if (endpoint === undefined) return void response.writeHead(404).end();
    const verdict = judge([endpoint.secret], (header) => request.headers[header] as string | undefined, Buffer.concat(chunks));
    const time = (endpoint.times.get(verdict.id) ?? 0) + 1;
    endpoint.times.set(verdict.id, time);
    const { status, afterMs } = endpoint.manner(verdict.id, time);
    const { data, waited_seconds: waited } = verdict.event as { data?: { id: string }; waited_seconds?: unknown };
    arrivals.push({
      endpoint: name,
      eventId: verdict.id,
      subject: data?.id ?? '',
      sequence: verdict.sequence ?? 0,
      problem: verdict.problem,
      status,
      unknownToOlder: typeof waited === 'number',
    });
    if (afterMs > 0) await delay(afterMs);
    response.writeHead(status).end();
  }

  // A request that breaks off needs no answer: its sender has gone.
  const server = createServer((request, response) => void answer(request, response).catch(() => response.destroy()));
  const port = await choosePort();
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    target: `127.0.0.1:${port}`,
    arrivals,
    url: (name) => `http://127.0.0.1:${port}/${name}`,
    expect: (name, secret, manner) => void endpoints.set(name, { secret, manner, times: new Map() }),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
