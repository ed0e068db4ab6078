import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Metrics } from '@truckroll/telemetry';
import { withTimeout } from './with-timeout.ts';

/** Resolves if the dependency can be used, rejects if it cannot. The error is not included in the answer. */
export type ReadinessCheck = () => Promise<void> | void;

const CHECK_TIMEOUT_MS = 2000;

export interface HealthServer {
  readonly port: number;
  close(): Promise<void>;
}

export interface HealthServerOptions {
  port: number;
  /** Address to listen on, the same as the service's. */
  host: string;
  metrics: Metrics;
  /** Read at every request: checks may be added while the service starts. */
  checks: ReadonlyMap<string, ReadinessCheck>;
}

interface Answer {
  readonly status?: number;
  readonly contentType: string;
  readonly body: string;
}

/** The operators' port: /metrics (Prometheus), /healthz (the event loop runs) and /readyz (503 with the failing checks). Rejects if it is taken. */
export async function startHealthServer(options: HealthServerOptions): Promise<HealthServer> {
  const server = createServer((request, response) => {
    const answer = (status: number, contentType: string, body: string) =>
      response.writeHead(status, { 'content-type': contentType, 'cache-control': 'no-store' }).end(body);
    const path = request.url?.split('?', 1)[0];
    if (path === '/healthz') return void answer(200, 'text/plain', 'ok\n');
    if (path !== '/metrics' && path !== '/readyz') return void answer(404, 'text/plain', 'not found\n');
    const work: Promise<Answer> = path === '/metrics' ? options.metrics.render() : readiness(options.checks);
    work.then(
      (result) => answer(result.status ?? 200, result.contentType, result.body),
      () => answer(500, 'text/plain', 'failed\n'),
    );
  });
  server.listen(options.port, options.host);
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function readiness(checks: ReadonlyMap<string, ReadinessCheck>): Promise<Answer> {
  const results = await Promise.all([...checks].map(async ([name, check]) => [name, await passes(name, check)] as const));
  const ready = results.every(([, passed]) => passed);
  const body = JSON.stringify({ ready, checks: Object.fromEntries(results.map(([name, passed]) => [name, passed ? 'ok' : 'failed'])) });
  return { status: ready ? 200 : 503, contentType: 'application/json', body: `${body}\n` };
}

async function passes(name: string, check: ReadinessCheck): Promise<boolean> {
  try {
    await withTimeout(Promise.resolve(check()), CHECK_TIMEOUT_MS, `check ${name}`);
    return true;
  } catch {
    return false;
  }
}
