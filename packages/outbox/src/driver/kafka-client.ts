// Fault: clients of kafkajs 2.2.4 leak sockets: concurrent metadata requests each create broker objects and forget all except the last, and
// a late request connects again. A consumer that disconnects waits for the response to its fetch. The address of a first broker is split at
// each colon, which takes an IPv6 address apart.
// Upstream: tulios/kafkajs#1606 and #1655 (a stop waits for the fetch); no upstream issue known about the others.
// Ends: with kafkajs itself, whose last stable release is 2.2.4 (docs/adr/0016).
import net, { Socket, isIP, isIPv6 } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { parseAddress, withTimeout } from '@truckroll/process';
import { Kafka, type Consumer, type ISocketFactory, type KafkaConfig } from 'kafkajs';

const KEEP_ALIVE_MS = 60_000;
/** Maximum time to disconnect, in ms: a broker that is gone never answers. */
const DISCONNECT_MS = 5000;

type Config = KafkaConfig & { readonly brokers: readonly string[] };

/** Creates a client whose sockets all close when it disconnects, within 5 s and for good. */
export function createClient<C extends Pick<Consumer, 'disconnect'> & Partial<Pick<Consumer, 'stop'>>>(config: Config, create: (kafka: Kafka) => C): C {
  const sockets = new Set<Socket>();
  let ended = false;
  const socketFactory: ISocketFactory = (target) => {
    if (ended) return new Socket().destroy(new Error('the client has disconnected'));
    const socket = open(target).setKeepAlive(true, KEEP_ALIVE_MS);
    sockets.add(socket);
    return socket.once('close', () => sockets.delete(socket));
  };
  const client = create(new Kafka({ ...config, brokers: config.brokers.map(withoutColons), socketFactory }));
  const disconnect = client.disconnect.bind(client);
  const end = (): void => {
    ended = true;
    for (const socket of sockets) socket.destroy(new Error('the client has disconnected'));
  };
  const disconnectFully = async (): Promise<void> => {
    // A consumer leaves its group first. The broker may then still hold its fetch, whose response is not needed.
    if (client.stop !== undefined) await client.stop().then(end);
    await disconnect();
  };
  return Object.assign(client, { disconnect: () => withTimeout(disconnectFully(), DISCONNECT_MS, 'disconnecting').finally(end) });
}

/** Suffix of an IPv6 address that is written without colons, so that kafkajs does not split it: `2001-db8--1.ipv6` is `2001:db8::1`. */
const IPV6 = '.ipv6';

function withoutColons(broker: string): string {
  const { host, port } = parseAddress(broker) ?? {};
  return host === undefined || !isIPv6(host) ? broker : `${host.replaceAll(':', '-')}${IPV6}:${port}`;
}

function open({ host: named, port, ssl, onConnect }: Parameters<ISocketFactory>[0]): Socket {
  const host = named.endsWith(IPV6) ? named.slice(0, -IPV6.length).replaceAll('-', ':') : named;
  if (!ssl) return net.connect({ host, port }, onConnect);
  return connectTls({ host, port, ...(isIP(host) === 0 && { servername: host }), ...ssl }, onConnect);
}
