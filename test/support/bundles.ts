// The contents of images: the bundles made by a checkout's deploy/bundle.mjs, started outside that checkout.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Problem } from '@truckroll/local-stack';

const COMMANDS = 'truckroll';

/** Bundles and starts every component of a checkout. Returns the components' names. Throws Problem when one fails. */
export function checkBundles(checkout: string): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'truckroll-bundles-'));
  try {
    const { status, stderr } = spawnSync(process.execPath, ['deploy/bundle.mjs', folder], { cwd: checkout, encoding: 'utf8' });
    if (status !== 0) throw new Problem(`deploy/bundle.mjs of ${checkout} failed: ${stderr.trim().slice(-2000)}`);
    const components = readdirSync(folder).toSorted();
    for (const component of components) checkStart(join(folder, component, 'main.mjs'), component);
    return components;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Without an environment, a server must start up to naming its missing variables. */
function checkStart(program: string, component: string): void {
  const [args, code, expected] = component === COMMANDS ? [['migrate', '--help'], 0, /^Usage: truckroll migrate/] : [[], 1, / cannot start:\n.* is missing: /];
  const env = { TRUCKROLL_VERSION: '1.2.3' };
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], { cwd: tmpdir(), encoding: 'utf8', env });
  if (status === code && expected.test(stdout + stderr)) return;
  throw new Problem(`The bundle of ${component} does not start: it ended with ${status} and printed ${JSON.stringify(stdout + stderr)}`);
}
