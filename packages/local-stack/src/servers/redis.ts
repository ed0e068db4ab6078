import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Problem } from '../problem.ts';
import { shown, works } from '../processes/run.ts';
import { launch } from './launch.ts';
import type { RunningServer, ServerContext } from './server.ts';

/** Redis from the system, on 127.0.0.1 only; installed with apt-get when it is missing and this process may. */
export async function startRedis(context: ServerContext): Promise<RunningServer> {
  await install(context);
  const data = join(context.folder, 'redis');
  mkdirSync(data, { recursive: true, mode: 0o700 });
  const port = await context.ports.take('redis');
  const daemon = await launch({
    command: 'redis-server',
    args: [
      '--bind', '127.0.0.1', '--port', String(port), '--dir', data, '--daemonize', 'no',
      // Counters of limits and copies of keys: losing fifteen minutes of them costs nothing.
      '--save', context.careless ? '' : '900 1', '--appendonly', 'no',
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
  return { daemon, port, url: `redis://127.0.0.1:${port}` };
}

const present = () => works('redis-server', '--version');

async function install(context: ServerContext): Promise<void> {
  if (await present()) return;
  if (process.getuid?.() === 0 && (await works('apt-get', '--version'))) {
    context.say('Redis is missing: installing it with apt-get …');
    // RUNLEVEL=1 keeps the package from starting a server of its own.
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' };
    for (const args of [['update'], ['install', '-y', '--no-install-recommends', 'redis-server']]) {
      await shown('apt-get', ['-q', ...args], env);
    }
    if (await present()) return;
  }
  const how = process.platform === 'darwin' ? 'brew install redis' : 'sudo apt-get install redis-server';
  throw new Problem(`Redis is missing: install it (${how}), or name your own server in REDIS_URL.`);
}
