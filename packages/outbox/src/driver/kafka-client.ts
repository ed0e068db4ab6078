// Fault: clients of kafkajs 2.2.4 leak sockets: concurrent metadata requests each create broker objects and forget all except the last, and
// a late request connects again.
// Upstream: no upstream issue known.
// Ends: with kafkajs itself, whose last stable release is 2.2.4 (docs/adr/0016).
import net, { Socket, isIP } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { withTimeout } from '@truckroll/process';
import { Kafka, type ISocketFactory, type KafkaConfig } from 'kafkajs';

const KEEP_ALIVE_MS = 60_000;
/** Maximum time to disconnect, in ms: a broker that is gone never answers. */
const DISCONNECT_MS = 5000;

/** Creates a client whose sockets all close when it disconnects, within 5 s and for good. */
export function createClient<C extends { disconnect(): Promise<void> }>(config: KafkaConfig, create: (kafka: Kafka) => C): C {
  const sockets = new Set<Socket>();
  let ended = false;
  const socketFactory: ISocketFactory = (target) => {
    if (ended) return new Socket().destroy(new Error('the client has disconnected'));
    const socket = open(target).setKeepAlive(true, KEEP_ALIVE_MS);
    sockets.add(socket);
    return socket.once('close', () => sockets.delete(socket));
  };
  const client = create(new Kafka({ ...config, socketFactory }));
  const disconnect = client.disconnect.bind(client);
  return Object.assign(client, {
    async disconnect() {
      try {
        await withTimeout(disconnect(), DISCONNECT_MS, 'disconnecting');
      } finally {
        ended = true;
        for (const socket of sockets) socket.destroy(new Error('the client has disconnected'));
      }
    },
  });
}

function open({ host, port, ssl, onConnect }: Parameters<ISocketFactory>[0]): Socket {
  if (!ssl) return net.connect({ host, port }, onConnect);
  return connectTls({ host, port, ...(isIP(host) === 0 && { servername: host }), ...ssl }, onConnect);
}
