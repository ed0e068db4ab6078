// Sends requests over sockets, and keeps the bytes of the answers.
import { once } from 'node:events';
import { request, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';

/** An answer with its raw bytes, which fetch would decompress. */
export interface RawAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  bytes: Buffer;
}

export async function rawRequest(url: string, headers: Record<string, string>, method = 'GET'): Promise<RawAnswer> {
  const [response] = (await once(request(url, { method, headers }).end(), 'response')) as [IncomingMessage];
  const bytes = Buffer.concat(await response.toArray());
  return { status: response.statusCode!, headers: response.headers, bytes };
}

/** An open connection. */
export interface Connection extends Socket {
  /** Everything that it has received. */
  received: string;
  /** Resolves when the server closes it, and rejects if the server resets it. */
  ended: Promise<unknown>;
}

const connections: Connection[] = [];

/** For `afterEach` of a file that opens some. */
export function closeConnections(): void {
  for (const connection of connections.splice(0)) connection.destroy();
}

/** Opens a connection that lasts until `closeConnections`, unless the server closes it. */
export async function openConnection(port: number): Promise<Connection> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  const ended = Promise.race([once(socket, 'end'), once(socket, 'close')]);
  // Most tests do not wait for it.
  ended.catch(() => undefined);
  const connection = Object.assign(socket, { received: '', ended });
  connections.push(connection);
  socket.on('data', (part) => (connection.received += part.toString('latin1'))).on('error', () => undefined);
  await once(socket, 'connect');
  return connection;
}

/** What the server answers to a text, up to the end of the connection. */
export async function answerTo(port: number, text: string): Promise<string> {
  const connection = await openConnection(port);
  connection.write(text);
  await connection.ended;
  return connection.received;
}
