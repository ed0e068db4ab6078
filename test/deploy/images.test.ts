// What goes into images: every component in one file with what it reads beside it. No engine builds them here.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from '@truckroll/local-stack';
import { COMPONENTS } from './environment.ts';

const folder = mkdtempSync(join(tmpdir(), 'truckroll-bundles-'));
afterAll(() => rmSync(folder, { recursive: true }));

function start(component: string, ...args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(folder, component, 'main.mjs'), ...args], {
    cwd: tmpdir(),
    encoding: 'utf8',
    env: { TRUCKROLL_VERSION: '1.2.3' },
  });
  return { status, stdout, stderr };
}

test('every component is bundled, and starts without the checkout: as far as to name what its environment lacks', () => {
  const { status, stderr } = spawnSync(process.execPath, ['deploy/bundle.mjs', folder], { cwd: ROOT, encoding: 'utf8' });
  expect({ status, stderr }).toEqual({ status: 0, stderr: expect.any(String) });
  expect(readdirSync(folder).toSorted()).toEqual([...COMPONENTS, 'truckroll'].toSorted());
  for (const component of COMPONENTS) {
    expect(start(component)).toEqual({ status: 1, stdout: '', stderr: expect.stringMatching(/ cannot start:\n.* is missing: /) });
  }
  const { status: helped, stdout } = start('truckroll', 'migrate', '--help');
  expect({ helped, stdout }).toEqual({ helped: 0, stdout: expect.stringContaining('Usage: truckroll migrate') });
}, 300_000);
