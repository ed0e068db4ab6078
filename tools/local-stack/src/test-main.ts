// `npm test`: Jest against real servers that are started once for the whole run and end with it.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { serverEnvironment } from './environment.ts';
import { ROOT, runFolder } from './folder.ts';
import { runMain } from './problem.ts';
import { identify } from './processes/identity.ts';
import { stopRequest } from './processes/stop-request.ts';
import { Watchdog } from './processes/watchdog.ts';
import { say } from './say.ts';
import { startServers } from './servers/index.ts';

const WITHOUT_SERVERS = /^(--help|-h|--version|-v|--listTests|--showConfig|--clearCache|--init)$/;

await runMain(async () => {
  const args = process.argv.slice(2);
  if (args.some((arg) => WITHOUT_SERVERS.test(arg))) return await jest(args, {});
  const folder = runFolder('test-runs');
  const watchdog = new Watchdog();
  watchdog.deleteAtEnd(folder);
  try {
    const password = randomBytes(12).toString('hex');
    const starting = startServers({ folder, watchdog, say, password, careless: true, environment: process.env });
    const servers = await Promise.race([starting, stopRequest]);
    return typeof servers === 'string' ? 1 : await jest(args, serverEnvironment(servers), watchdog);
  } finally {
    await watchdog.stopAll();
  }
});

function jest(args: readonly string[], servers: Record<string, string>, watchdog?: Watchdog): Promise<number> {
  const options = [process.env['NODE_OPTIONS'], '--experimental-vm-modules', '--no-warnings'].filter(Boolean).join(' ');
  const child = spawn(process.execPath, [join(ROOT, 'node_modules/jest/bin/jest.js'), ...args], {
    cwd: ROOT,
    stdio: 'inherit',
    env: { ...process.env, ...servers, NODE_OPTIONS: options },
  });
  const identity = identify(child.pid!);
  if (identity) watchdog?.add({ ...identity, order: 'gateway', signal: 'SIGKILL', graceMs: 1000 });
  void stopRequest.then((signal) => child.kill(signal));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => {
      watchdog?.remove(child.pid!);
      resolve(code ?? 1);
    });
  });
}
