import { EventEmitter, once } from 'node:events';
import { connect, createServer as createTcpServer, type AddressInfo, type Socket } from 'node:net';
import { SMTPServer } from 'smtp-server';

export type MailBehaviour = 'accept' | 'refuse-recipient' | 'refuse-message' | 'busy' | 'drop-after-data' | 'hang-after-data' | 'no-greeting';

export interface Letter {
  from: string;
  to: string;
  text: string;
}

const refusal = (message: string, responseCode: number): Error => Object.assign(new Error(message), { responseCode });

/** Stores every letter it receives completely, whatever it answers afterwards. With a `login` it takes letters only after that. */
export async function startMailServer(login?: { user: string; password: string }) {
  const letters: Letter[] = [];
  let behaviour: MailBehaviour = 'accept';
  const sockets = new Set<Socket>();
  const arrivals = new EventEmitter();
  const server = new SMTPServer({
    authOptional: login === undefined,
    disabledCommands: login === undefined ? ['AUTH', 'STARTTLS'] : ['STARTTLS'],
    allowInsecureAuth: true,
    onAuth({ username, password }, _session, done) {
      if (username === login?.user && password === login?.password) done(null, { user: username });
      else done(refusal('Wrong user or password', 535));
    },
    disableReverseLookup: true,
    logger: false,
    onRcptTo(_address, _session, done) {
      if (behaviour === 'refuse-recipient') return done(refusal('No such user here', 550));
      if (behaviour === 'busy') return done(refusal('Try again later', 451));
      done();
    },
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        if (behaviour === 'refuse-message') return done(refusal('Message refused', 554));
        const { mailFrom, rcptTo } = session.envelope;
        letters.push({ from: mailFrom === false ? '' : mailFrom.address, to: rcptTo[0]?.address ?? '', text: Buffer.concat(chunks).toString() });
        arrivals.emit('letter');
        if (behaviour === 'accept') return done();
        if (behaviour === 'drop-after-data') for (const socket of sockets) socket.destroy();
      });
    },
  });
  server.on('error', () => undefined);
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  const inner = (server.server.address() as AddressInfo).port;
  // A TCP front for what the SMTP library cannot do: cut connections and withhold the greeting.
  const front = createTcpServer((client) => {
    sockets.add(client);
    client.on('close', () => sockets.delete(client)).on('error', () => undefined);
    if (behaviour === 'no-greeting') return;
    const upstream = connect(inner, '127.0.0.1')
      .on('error', () => client.destroy())
      .on('close', () => client.destroy());
    client.on('close', () => upstream.destroy());
    client.pipe(upstream).pipe(client);
  });
  front.listen(0, '127.0.0.1');
  await once(front, 'listening');
  return {
    port: (front.address() as AddressInfo).port,
    letters,
    arrival: () => once(arrivals, 'letter'),
    behave: (next: MailBehaviour) => void (behaviour = next),
    async stop() {
      for (const socket of sockets) socket.destroy();
      front.close();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

export type MailServer = Awaited<ReturnType<typeof startMailServer>>;
