// A proxy that ends requests after a time limit, as load balancers do, and serves its target below a path prefix.
import { once } from 'node:events';
import { createServer, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface CuttingProxy {
  /** With the prefix. */
  readonly url: string;
  /** Resolves once this many requests have been cut. */
  cut(count: number): Promise<void>;
  close(): Promise<void>;
}

/** `answers504`: whether it answers 504 at the limit rather than closing the connection. */
export async function cuttingProxy(
  target: string,
  { limitMs, answers504, prefix = '/fsm' }: { limitMs: number; answers504: boolean; prefix?: string },
): Promise<CuttingProxy> {
  let cuts = 0;
  const waiting = new Set<() => void>();
  const server = createServer((request, response) => {
    if (!request.url?.startsWith(`${prefix}/`)) return void response.writeHead(404, { 'content-type': 'text/html' }).end('<h1>Not found</h1>');
    const { hostname, port } = new URL(target);
    const { method, headers } = request;
    const onwards = send({ hostname, port, method, headers, path: request.url.slice(prefix.length) }, (answer) => {
      clearTimeout(timer);
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    const timer = setTimeout(() => {
      cuts += 1;
      if (answers504) response.writeHead(504, { 'content-type': 'text/html' }).end('<h1>Gateway Time-out</h1>');
      else request.socket.destroy();
      onwards.destroy();
      for (const check of waiting) check();
    }, limitMs);
    onwards.on('error', () => response.destroy());
    response.on('close', () => (clearTimeout(timer), onwards.destroy()));
    request.pipe(onwards);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${prefix}`,
    cut: (count) =>
      new Promise((resolve) => {
        const check = () => void (cuts >= count && resolve());
        waiting.add(check);
        check();
      }),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
