import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { ROOT } from '../src/folder.ts';

test('npm test with a pattern that matches nothing says so, and starts no server', () => {
  const program = join(ROOT, 'tools/local-stack/src/test-main.ts');
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, 'no/such/test'], { encoding: 'utf8', env: { ...process.env, NODE_OPTIONS: '' } });
  expect({ status, said: stdout + stderr }).toEqual({
    status: 1,
    said: 'No test file matches no/such/test. Patterns match paths, such as test/records or gateway.\n',
  });
}, 30_000);
