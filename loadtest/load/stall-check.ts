// Checks that this generator counts the requests that were due while a server stalls.
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { runK6 } from './k6.ts';
import { STALL_MS } from './verdict.ts';

const SECONDS = 4;
const STALLS_AFTER_MS = 1500;

/** Returns the p99 in ms that k6 measures for a server that answers at once except during a stall of half a second. */
export async function stallCheck(k6: string, folder: string, core?: number): Promise<number> {
  let waiting: ServerResponse[] | undefined;
  let first = true;
  const server = createServer((_request, response) => {
    if (first) {
      first = false;
      setTimeout(stall, STALLS_AFTER_MS);
    }
    if (waiting === undefined) response.end('{}');
    else waiting.push(response);
  });
  function stall(): void {
    waiting = [];
    setTimeout(() => {
      for (const response of waiting ?? []) response.end('{}');
      waiting = undefined;
    }, STALL_MS);
  }
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const env = { BASE_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, RATE: '100', DURATION: String(SECONDS), ONLY: 'detail' };
    const { metrics } = await runK6({ k6, test: 'average', script: 'stall', env, folder, core });
    return metrics['latency{op:detail}']?.values['p(99)'] ?? 0;
  } finally {
    server.closeAllConnections();
    server.close();
  }
}
