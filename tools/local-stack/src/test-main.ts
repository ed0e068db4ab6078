// `npm test`: Jest against real servers: those of `npm run servers` if they run in this checkout, else those that the chosen files need.
import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { serverEnvironment, sharedServers } from './environment.ts';
import { ROOT, STATE, runFolder } from './folder.ts';
import { neededServers } from './needed-servers.ts';
import { Problem, runMain } from './problem.ts';
import { identify } from './processes/identity.ts';
import { stopRequest } from './processes/stop-request.ts';
import { Watchdog } from './processes/watchdog.ts';
import { say } from './say.ts';
import { startServers } from './servers/index.ts';

const JEST = join(ROOT, 'node_modules/jest/bin/jest.js');
const WITHOUT_SERVERS = /^(--help|-h|--version|-v|--listTests|--showConfig|--clearCache|--init)$/;

await runMain(async () => {
  const args = process.argv.slice(2);
  if (args.some((arg) => WITHOUT_SERVERS.test(arg))) return await jest(args, {});
  const only = args.some((arg) => !arg.startsWith('-')) ? await neededServers(ROOT, await chosenFiles(args)) : undefined;
  const folder = runFolder('test-runs');
  const watchdog = new Watchdog();
  watchdog.deleteAtEnd(folder);
  try {
    const password = randomBytes(12).toString('hex');
    const environment = { ...sharedServers(STATE), ...process.env };
    const starting = startServers({ folder, watchdog, say, password, careless: true, environment, ...(only === undefined ? {} : { only }) });
    const servers = await Promise.race([starting, stopRequest]);
    if (typeof servers === 'string') return 1;
    // Omit servers that were not started, so that a test that needs one says so.
    const known = Object.entries(serverEnvironment(servers)).filter(([, value]) => value !== '');
    return await jest(args, Object.fromEntries(known), watchdog);
  } finally {
    await watchdog.stopAll();
  }
});

async function chosenFiles(args: readonly string[]): Promise<string[]> {
  const { stdout } = await promisify(execFile)(process.execPath, [JEST, '--listTests', ...args], { cwd: ROOT });
  const files = stdout.split('\n').filter(Boolean);
  if (files.length === 0) throw new Problem(`No test file matches ${args.join(' ')}. Patterns match paths, such as test/records or gateway.`);
  return files;
}

function jest(args: readonly string[], servers: Record<string, string>, watchdog?: Watchdog): Promise<number> {
  const child = spawn(process.execPath, [JEST, ...args], { cwd: ROOT, stdio: 'inherit', env: { ...process.env, ...servers } });
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
