// A webhook receiver on loopback that behaves as a test needs.
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import { certificate, privateKey } from './certificate.ts';

export interface Received {
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: string;
}

export interface Receiver {
  readonly port: number;
  readonly url: string;
  /** 127.0.0.1:port, for the list of allowed targets. */
  readonly target: string;
  readonly received: Received[];
  /** Number of connections, including failed ones. */
  connections: number;
  /** Maximum of simultaneously open connections. */
  mostOpen: number;
  /** Resolves when `count` requests have been received. */
  until(count: number): Promise<void>;
  close(): Promise<void>;
}

export type Answer = (response: ServerResponse, request: Received) => void;

export async function startReceiver(answer: Answer = (response) => void response.end(), options: { tls?: boolean; host?: string } = {}): Promise<Receiver> {
  const received: Received[] = [];
  const waiting = new Set<() => void>();
  const listener: RequestListener = (request, response) => {
    read(request).then(
      (body) => {
        const entry = { path: request.url ?? '', headers: request.headers as Record<string, string>, body };
        received.push(entry);
        answer(response, entry);
        for (const check of waiting) check();
      },
      () => undefined,
    );
  };
  const server: Server = options.tls ? createTlsServer({ cert: certificate, key: privateKey }, listener) : createServer(listener);
  const sockets = new Set<{ destroy(): void }>();
  const receiver: Receiver = {
    port: 0,
    url: '',
    target: '',
    received,
    connections: 0,
    mostOpen: 0,
    until: (count) =>
      new Promise((resolve) => {
        const check = () => {
          if (received.length < count) return;
          waiting.delete(check);
          resolve();
        };
        waiting.add(check);
        check();
      }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
  server.on('connection', (socket) => {
    receiver.connections += 1;
    sockets.add(socket);
    receiver.mostOpen = Math.max(receiver.mostOpen, sockets.size);
    socket.once('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, options.host ?? '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return Object.assign(receiver, { port, target: `127.0.0.1:${port}`, url: `${options.tls ? 'https' : 'http'}://127.0.0.1:${port}/hooks` });
}

async function read(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
