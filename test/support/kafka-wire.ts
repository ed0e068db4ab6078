// Cuts the connection between this process and Kafka. A proxy cannot, because brokers announce their own addresses to clients.
import net, { type Socket } from 'node:net';

export interface Wire {
  cut(): Promise<void>;
  restore(): Promise<void>;
  close(): Promise<void>;
}

const NOWHERE = 1;

/** Affects every client in this process that connects to these brokers from now on. Only one wire may be open at a time. */
export function openKafkaWire(brokers: readonly string[]): Wire {
  const real = net.connect;
  const sockets = new Set<Socket>();
  let up = true;
  const connect = (options: unknown, ...more: unknown[]): Socket => {
    const { host, port } = (typeof options === 'object' ? options : {}) as { host?: string; port?: number };
    if (!brokers.includes(`${host}:${port}`)) return Reflect.apply(real, net, [options, ...more]) as Socket;
    const socket = Reflect.apply(real, net, [{ host, port: up ? port : NOWHERE }, ...more]) as Socket;
    sockets.add(socket);
    return socket.on('close', () => sockets.delete(socket));
  };
  net.connect = connect;
  return {
    async cut() {
      if (sockets.size === 0) throw new Error('no connection to Kafka is open over this wire: cutting it would take nothing away');
      up = false;
      for (const socket of sockets) socket.destroy(Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' }));
    },
    async restore() {
      up = true;
    },
    async close() {
      up = true;
      net.connect = real;
    },
  };
}
