// Checks that this generator counts the requests that were due while a server stalls.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { runK6 } from './k6.ts';
import { STALL_MS, latencyIn } from './verdict.ts';

const SECONDS = 4;
const STALLS_AFTER_MS = 1500;

/** Returns the p99 in ms that k6 measures for a server that answers at once except during a stall of half a second. */
export async function stallCheck(k6: string): Promise<number> {
  let stallsAt: number | undefined;
  const server = createServer((_request, response) => {
    stallsAt ??= performance.now() + STALLS_AFTER_MS;
    const stalled = performance.now() - stallsAt;
    if (stalled >= 0 && stalled < STALL_MS) setTimeout(() => response.end('{}'), STALL_MS - stalled);
    else response.end('{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const env = { BASE_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, RATE: '100', DURATION: String(SECONDS), ONLY: 'detail' };
    return latencyIn(await runK6({ k6, test: 'average', script: 'stall', env }), 'detail').p99;
  } finally {
    server.closeAllConnections();
    server.close();
  }
}
