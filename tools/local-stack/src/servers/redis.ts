import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { formatAddress } from '@truckroll/process/addresses';
import { fromDebian } from '../debian-package.ts';
import { launch } from './launch.ts';
import type { RunningServer, ServerContext } from './server.ts';

/** The system's Redis on one address; installed with apt-get when it is missing and this process is root. */
export async function startRedis(context: ServerContext): Promise<RunningServer> {
  const command = await redisServer(context);
  const data = join(context.folder, 'redis');
  mkdirSync(data, { recursive: true, mode: 0o700 });
  const port = await context.ports.take('redis');
  const daemon = await launch({
    command,
    args: [
      '--bind',
      context.address,
      '--protected-mode',
      'no',
      '--port',
      String(port),
      '--dir',
      data,
      '--daemonize',
      'no',
      // Look for expired keys once a second instead of ten times. Reads never return an expired key either way.
      '--hz',
      '1',
      // Redis holds rate-limit counters and cached keys, so losing fifteen minutes of them costs nothing.
      '--save',
      context.careless ? '' : '900 1',
      '--appendonly',
      'no',
    ],
    name: 'redis',
    title: 'Redis',
    dataFolder: data,
    afterDeletion: 'to begin with empty caches and rate limits',
    log: join(context.logs, 'redis.log'),
    stopSignal: 'SIGTERM',
    graceMs: 10_000,
    ready: /Ready to accept connections/,
    watchdog: context.watchdog,
  });
  return { daemon, port, url: `redis://${formatAddress(context.address, port)}` };
}

function redisServer({ say }: ServerContext): Promise<string> {
  const how = process.platform === 'darwin' ? 'brew install redis' : 'sudo apt-get install redis-server';
  return fromDebian(
    { title: 'Redis', package: 'redis-server', commands: ['redis-server'], otherwise: `install it (${how}), or name your own server in REDIS_URL` },
    say,
  );
}
