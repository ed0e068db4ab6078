import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** A proxy between a client and a server that can interrupt and restore the connection. */
export interface TcpProxy {
  readonly port: number;
  /** Number of connections that it has accepted. */
  readonly accepted: number;
  /** Number of those that are open. */
  readonly open: number;
  /** Closes every connection; new ones are accepted. */
  drop(): void;
  /** Closes every connection and refuses new ones. */
  cut(): Promise<void>;
  restore(): Promise<void>;
  close(): Promise<void>;
}

export async function openProxy(target: { host: string; port: number }): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let [accepted, open] = [0, 0];
  const server = createServer((client) => {
    accepted += 1;
    open += 1;
    client.once('close', () => (open -= 1));
    const upstream = connect(target.port, target.host);
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      from.setNoDelay(true).pipe(to);
      from.on('error', () => to.destroy());
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
    }
  });
  const listen = (port: number) =>
    new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, '127.0.0.1', () => resolve());
    });
  await listen(0);
  const { port } = server.address() as AddressInfo;
  const drop = () => {
    for (const socket of sockets) socket.destroy();
  };
  const cut = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      drop();
    });
  return {
    port,
    get accepted() {
      return accepted;
    },
    get open() {
      return open;
    },
    drop,
    cut,
    restore: () => listen(port),
    close: () => (server.listening ? cut() : Promise.resolve()),
  };
}
