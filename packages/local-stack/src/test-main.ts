// `npm test`: Jest against real servers that are started once for the whole run and end with it.
import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { spawn } from 'node:child_process';
import { ROOT, runFolder } from './folder.ts';
import { runMain } from './problem.ts';
import { identify } from './processes/identity.ts';
import { stopRequest } from './processes/stop-request.ts';
import { Watchdog } from './processes/watchdog.ts';
import { say } from './say.ts';
import { startServers } from './servers/index.ts';
import { serverEnvironment } from './environment.ts';

const WITHOUT_SERVERS = /^(--help|-h|--version|-v|--listTests|--showConfig|--clearCache|--init)$/;

await runMain(async () => {
  const args = process.argv.slice(2);
  if (args.some((arg) => WITHOUT_SERVERS.test(arg))) return jest(args, process.env);
  const folder = runFolder('test-runs');
  const watchdog = new Watchdog();
  watchdog.deleteAtEnd(folder);
  const password = randomBytes(12).toString('hex');
  try {
    const servers = await startServers({ folder, watchdog, say, password, careless: true, environment: process.env });
    try {
      return await jest(args, { ...process.env, ...serverEnvironment(servers) }, watchdog);
    } finally {
      await servers.stop();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
    watchdog.done();
  }
});

function jest(args: readonly string[], environment: NodeJS.ProcessEnv, watchdog?: Watchdog): Promise<number> {
  const options = [environment['NODE_OPTIONS'], '--experimental-vm-modules', '--no-warnings'].filter(Boolean).join(' ');
  const child = spawn(process.execPath, [join(ROOT, 'node_modules/jest/bin/jest.js'), ...args], {
    cwd: ROOT,
    stdio: 'inherit',
    env: { ...environment, NODE_OPTIONS: options },
  });
  const identity = identify(child.pid!);
  if (identity) watchdog?.add({ ...identity, order: 'gateway', signal: 'SIGKILL', graceMs: 1000 });
  stopRequest.then((signal) => child.kill(signal));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => {
      watchdog?.remove(child.pid!);
      resolve(code ?? 1);
    });
  });
}
