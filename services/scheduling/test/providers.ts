import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

export async function startSmsServer() {
  const requests: { method: string | undefined; headers: IncomingHttpHeaders; body: unknown }[] = [];
  let answer: number | 'hang up' | 'nothing' = 202;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request
      .on('data', (chunk: Buffer) => chunks.push(chunk))
      .on('end', () => {
        requests.push({ method: request.method, headers: request.headers, body: JSON.parse(Buffer.concat(chunks).toString()) });
        if (answer === 'hang up') request.socket.destroy();
        else if (answer !== 'nothing') response.writeHead(answer, { location: '/elsewhere' }).end('{}');
      });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/messages`,
    requests,
    answer: (next: typeof answer) => void (answer = next),
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export type SmsServer = Awaited<ReturnType<typeof startSmsServer>>;
