import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

export interface StallableWire {
  url: string;
  /** While true no data passes in either direction and connections stay open, as if the peer hung. */
  stall(stalled: boolean): void;
  /** Closes every connection, and refuses new ones while true. */
  cut(away: boolean): void;
  close(): void;
}

/** A proxy in front of Redis that can hang or go away. */
export async function wireTo(redis: string): Promise<StallableWire> {
  const target = new URL(redis);
  const pairs = new Set<[Socket, Socket]>();
  let stalled = false;
  let away = false;
  const server = createServer((client) => {
    if (away) return void client.destroy();
    const upstream = connect(Number(target.port || 6379), target.hostname);
    const pair: [Socket, Socket] = [client, upstream];
    pairs.add(pair);
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      from.on('data', (bytes) => to.write(bytes)).on('error', () => to.destroy());
      from.on('close', () => {
        pairs.delete(pair);
        to.destroy();
      });
      if (stalled) from.pause();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  const url = new URL(redis);
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const every = (action: (socket: Socket) => void): void => [...pairs].flat().forEach(action);
  return {
    url: url.href,
    stall(value) {
      stalled = value;
      every((socket) => (value ? socket.pause() : socket.resume()));
    },
    cut(value) {
      away = value;
      if (value) every((socket) => socket.destroy());
    },
    close() {
      server.close();
      every((socket) => socket.destroy());
    },
  };
}
