// Limits open client connections, in total and per address.
import type { Server } from 'node:http';
import type { CounterMetric, Metrics } from '@truckroll/telemetry';
import { networkOf } from './addresses.ts';

export interface ConnectionCaps {
  total: number;
  perAddress: number;
  /** Whether the address is a trusted proxy, which connects for many clients: only the total counts for it. */
  isProxy(address: string): boolean;
}

/** Closes connections beyond the caps right after accepting them. */
export function capConnections(server: Server, { total, perAddress, isProxy }: ConnectionCaps, metrics: Metrics): void {
  const refused: CounterMetric<'cap'> = metrics.counter(
    'gateway_connections_refused_total',
    'Connections closed at once because of MAX_CONNECTIONS (`total`) or MAX_CONNECTIONS_PER_ADDRESS (`address`)',
    ['cap'],
  );
  const byNetwork = new Map<string, number>();
  let open = 0;
  metrics.observedGauge('gateway_connections_open', 'Open connections of clients', () => open);
  server.maxConnections = total;
  server.on('drop', () => refused.inc({ cap: 'total' }));
  server.on('connection', (socket) => {
    open += 1;
    socket.once('close', () => (open -= 1));
    const { remoteAddress = '' } = socket;
    if (isProxy(remoteAddress)) return;
    const network = networkOf(remoteAddress);
    const count = byNetwork.get(network) ?? 0;
    if (count >= perAddress) {
      refused.inc({ cap: 'address' });
      socket.destroy();
      return;
    }
    byNetwork.set(network, count + 1);
    socket.once('close', () => {
      const left = (byNetwork.get(network) as number) - 1;
      if (left === 0) byNetwork.delete(network);
      else byNetwork.set(network, left);
    });
  });
}
