// Closes one transaction's connection at its n-th statement: before PostgreSQL receives it, or before the service receives its result.
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

export type Moment = 'before' | 'after';

export interface CrashingProxy {
  readonly port: number;
  /** Applies to the next transaction. `reached` says whether it got to its n-th statement; BEGIN is number 0. */
  arm(n: number, moment: Moment): { readonly reached: boolean; disarm(): void };
  close(): void;
}

interface Plan {
  n: number;
  moment: Moment;
  reached: boolean;
  taken: boolean;
}

export async function crashingProxy(target: { host: string; port: number }): Promise<CrashingProxy> {
  let armed: Plan | undefined;
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(target.port, target.host);
    for (const socket of [client, upstream]) {
      sockets.add(socket.setNoDelay(true));
      socket.on('error', () => undefined);
      socket.on('close', () => void (client.destroy(), upstream.destroy(), sockets.delete(socket)));
    }
    let plan: Plan | undefined;
    let sent = 0;
    let done = 0;
    const crash = (): void => {
      client.destroy();
      upstream.destroy();
    };
    client.on(
      'data',
      splitter(true, (message) => {
        const type = String.fromCharCode(message[0] as number);
        if (armed !== undefined && !armed.taken && type === 'B' && message.includes(BEGIN)) {
          plan = armed;
          plan.taken = true;
          [sent, done] = [-1, -1];
        }
        if (plan === armed && plan !== undefined && type === 'E') {
          sent++;
          if (sent === plan.n) plan.reached = true;
          if (plan.moment === 'before' && sent >= plan.n) return crash();
        }
        // A statement's other messages precede its Execute and have no effect without it.
        if (!client.destroyed) upstream.write(message);
      }),
    );
    upstream.on(
      'data',
      splitter(false, (message) => {
        if (plan === armed && plan?.moment === 'after' && message[0] === COMPLETE && ++done >= plan.n) return crash();
        if (!client.destroyed) client.write(message);
      }),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  return {
    port: (server.address() as AddressInfo).port,
    arm(n, moment) {
      const plan: Plan = (armed = { n, moment, reached: false, taken: false });
      return {
        get reached() {
          return plan.reached;
        },
        disarm: () => void (armed = undefined),
      };
    },
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

const COMPLETE = 'C'.charCodeAt(0);
const BEGIN = '\0begin\0';

/** Splits a stream of PostgreSQL messages. A client's first message has no type byte. */
function splitter(startup: boolean, onMessage: (message: Buffer) => void): (chunk: Buffer) => void {
  let rest = Buffer.alloc(0);
  let first = startup;
  return (chunk) => {
    rest = Buffer.concat([rest, chunk]);
    for (;;) {
      const header = first ? 4 : 5;
      if (rest.length < header) return;
      const size = first ? rest.readUInt32BE(0) : 1 + rest.readUInt32BE(1);
      if (rest.length < size) return;
      const message = rest.subarray(0, size);
      rest = rest.subarray(size);
      first = false;
      onMessage(message);
    }
  };
}
