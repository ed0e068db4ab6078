// The receivers, senders and servers that a test opens. Its file calls `afterEach(closeOpened)`.
import { once } from 'node:events';
import type { AddressInfo, Server } from 'node:net';
import { exchanges, type Exchanges } from './exchanges.ts';
import { startReceiver, type Receiver } from './receiver.ts';

const opened: { close(): Promise<unknown> }[] = [];

export async function closeOpened(): Promise<void> {
  for (const each of opened.splice(0).toReversed()) await each.close();
}

/** Registers a resource to close after the test, in reverse order of opening. */
export function closing<T extends { close(): Promise<unknown> }>(made: T): T {
  opened.push(made);
  return made;
}

export async function receiver(...given: Parameters<typeof startReceiver>): Promise<Receiver> {
  return closing(await startReceiver(...given));
}

/** Starts a server that the test has made, which closes with its connections. Returns its port. */
export async function listening(server: Server, port = 0, host = '127.0.0.1'): Promise<number> {
  server.on('connection', (socket) => closing({ close: async () => socket.destroy() }));
  server.listen(port, host);
  await once(server, 'listening');
  closing({ close: async () => server.close() });
  return (server.address() as AddressInfo).port;
}

export function sender(...given: Parameters<typeof exchanges>): Exchanges {
  return closing(exchanges(...given));
}
