// A load balancer that works like a Kubernetes Service: new connections go to ready gateways, and existing connections stay where they are.
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

export interface Front {
  readonly port: number;
  ready(ports: readonly number[]): void;
  close(): Promise<void>;
}

export async function openFront(port: number): Promise<Front> {
  let ports: readonly number[] = [];
  let turn = 0;
  const sockets = new Set<Socket>();
  const server = createServer((incoming) => {
    const chosen = ports[turn++ % ports.length];
    if (chosen === undefined) return void incoming.destroy();
    const outgoing = connect(chosen, '127.0.0.1');
    for (const [one, other] of [
      [incoming, outgoing],
      [outgoing, incoming],
    ] as const) {
      sockets.add(one);
      one.setNoDelay(true);
      one.on('error', () => other.destroy());
      one.on('close', () => {
        sockets.delete(one);
        other.destroySoon();
      });
    }
    incoming.pipe(outgoing).pipe(incoming);
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    port,
    ready: (now) => void (ports = now),
    async close() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
