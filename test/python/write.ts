// Writes what of the Python client is made from gateway/openapi.json and from the asynchronous client. With --check, compares instead, checks
// types in both type checkers and the wheel's metadata, and runs the tests of the client without a server.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT, runMain, say } from '@truckroll/local-stack';
import { resourcesOf } from '../../scripts/client-resources.mjs';
import { makeWheel } from '../../scripts/wheel.mjs';
import { models } from './models.ts';
import { pythonTools } from './tools.ts';
import { resourceModule } from './resources.ts';
import { withoutAsync } from './without-async.ts';

const project = join(ROOT, 'clients/python');
const source = join(project, 'src/truckroll');
const read = (name: string): string => readFileSync(join(source, name), 'utf8');

await runMain(async () => {
  const check = process.argv.includes('--check');
  const description = JSON.parse(readFileSync(join(ROOT, 'gateway/openapi.json'), 'utf8'));
  const bin = pythonTools();
  const resources = resourceModule(resourcesOf(description), description.components.schemas);
  const made = {
    'models.py': models(description, bin),
    '_async_resources.py': resources,
    '_resources.py': withoutAsync(resources),
    '_core.py': withoutAsync(read('_async_core.py')),
    '_client.py': withoutAsync(read('_async_client.py')),
  };
  let failed = false;
  for (const [name, text] of Object.entries(made)) {
    if (!check) writeFileSync(join(source, name), text);
    else if (read(name) !== text) {
      say(`clients/python/src/truckroll/${name} is not what it is made from: run \`npm run python\` and commit it`);
      failed = true;
    }
  }
  if (!check) return 0;
  const folder = mkdtempSync(join(tmpdir(), 'truckroll-wheel-'));
  const wheel = makeWheel(project, '0.0.1');
  writeFileSync(join(folder, wheel.file), wheel.bytes);
  const checks: [string, ...string[]][] = [
    ['twine', 'check', '--strict', join(folder, wheel.file)],
    ['mypy', '--no-error-summary'],
    ['pyright', '--level', 'error'],
    ['python', '-m', 'unittest', 'discover', '--start-directory', 'tests', '--quiet'],
  ];
  for (const [command, ...args] of checks) {
    const env = { ...process.env, PYTHONPATH: join(project, 'src'), PYTHONDONTWRITEBYTECODE: '1', PATH: `${bin}:${process.env['PATH']}` };
    const { status, stdout, stderr } = spawnSync(join(bin, command), args, { cwd: project, encoding: 'utf8', env });
    if (status === 0) continue;
    say(`${command} finds faults:\n${stdout}${stderr}`);
    failed = true;
  }
  rmSync(folder, { recursive: true });
  return failed ? 1 : 0;
});
