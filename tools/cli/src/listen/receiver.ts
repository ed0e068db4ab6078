import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { judge, type Verdict } from './verdict.ts';

export interface ReceiverOptions {
  readonly port: number;
  /** Secrets, `whsec_…`; two during a rotation. Without any, nothing is verified. */
  readonly secrets: readonly string[];
  /** Status of the answer to an accepted delivery. */
  readonly status: number;
  readonly received: (verdict: Verdict) => void;
}

export interface Receiver {
  readonly port: number;
  close(): Promise<void>;
}

const MOST_BYTES = 4 * 1024 * 1024;

/** Listens on the loopback address only. Rejects if the port is taken. */
export async function startReceiver({ port, secrets, status, received }: ReceiverOptions): Promise<Receiver> {
  const server = createServer((request, response) => {
    if (request.method !== 'POST') return void response.writeHead(405, { allow: 'POST' }).end();
    read(request).then(
      (body) => {
        if (body === undefined) return void response.writeHead(413, { connection: 'close' }).end();
        const verdict = judge(secrets, (name) => single(request.headers[name]), body);
        const answer = verdict.problem === undefined ? status : 401;
        // Answer first, because the sender is waiting.
        response.writeHead(answer).end();
        received({ ...verdict, answer });
      },
      () => response.destroy(),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeIdleConnections();
      }),
  };
}

/** The raw body, because the signature covers its bytes; undefined if it is too long. */
async function read(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MOST_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function single(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}
