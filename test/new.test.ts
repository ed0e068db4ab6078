import { spawnSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { existsSync, readdirSync, symlinkSync, writeFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '@truckroll/local-stack';
import { Changes } from '../scripts/new/changes.mjs';
import { Tree } from './rollout/tree.ts';

let tree: Tree;
let untouched: Record<string, string>;
beforeAll(() => {
  tree = new Tree();
  untouched = sources();
});
afterAll(() => tree.remove());

interface Outcome {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A test that was written may use the run's PostgreSQL. */
const env = { PATH: process.env['PATH'], DATABASE_URL: process.env['DATABASE_URL'] };

function node(script: string, args: readonly string[], cwd = tree.folder): Outcome {
  return spawnSync(process.execPath, [script, ...args], { cwd, encoding: 'utf8', env });
}

const create = (...words: string[]): Outcome => node(join(ROOT, 'scripts/new.mjs'), [...words, '--root', tree.folder]);

function sources(): Record<string, string> {
  // Not all of services/: listing a folder follows the links between packages round and round.
  const ofServices = readdirSync(join(tree.folder, 'services')).flatMap((name) => ['src', 'test', 'migrations'].map((part) => `services/${name}/${part}`));
  const folders = ['proto', 'packages/contract/src', 'test/rollout', 'tools/cli/src', 'deploy', ...ofServices];
  const paths = folders
    .filter((folder) => existsSync(join(tree.folder, folder)))
    .flatMap((folder) =>
      readdirSync(join(tree.folder, folder), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && !/[/\\]gen([/\\]|$)/.test(entry.parentPath))
        .map((entry) => join(entry.parentPath, entry.name)),
    );
  return Object.fromEntries(paths.map((path) => [path, hash('sha256', readFileSync(path))]));
}

/** What failing tests print, in one worker, which loads what they import once. */
function failures(...paths: string[]): string {
  const files = paths.map((path) => join(tree.folder, path));
  const { status, stderr } = node(join(ROOT, 'node_modules/jest/bin/jest.js'), ['--rootDir', tree.folder, '--maxWorkers', '1', '--runTestsByPath', ...files]);
  expect([status, stderr]).toEqual([1, expect.stringContaining(`Test Suites: ${paths.length} failed, ${paths.length} total`)]);
  return stderr;
}

test.each([
  [['thing', 'tips'], 'there is no kind thing.'],
  [['record'], 'a record has one name.'],
  [['record', 'Tips', '--owner', 'billing'], 'Tips is no name'],
  [['record', 'tip', '--owner', 'billing'], 'tip is no plural'],
  [['record', 'tips'], 'name the service that owns tips: --owner billing|reporting|scheduling.'],
  [['record', 'invoices', '--owner', 'billing'], 'invoices.proto is there already: choose another name.'],
  [['record', 'tips', '--from', 'billing'], 'a record takes no --from.'],
  [['event', 'tip-given', '--from', 'pricing', '--to', 'billing'], '--from takes a service that has a schema, such as scheduling, not pricing.'],
  [['event', 'tip-given', '--from', 'billing', '--to', 'billing'], 'an event leads to another service'],
  [['service', 'price-books'], 'price-books is no name of a service'],
  [['service', 'billing'], 'services/billing is there already: choose another name.'],
])('%j is refused and changes nothing', (words, message) => {
  const { status, stdout, stderr } = create(...words);
  expect({ status, stdout, stderr }).toEqual({ status: 2, stdout: '', stderr: expect.stringContaining(message) });
  expect(sources()).toEqual(untouched);
});

test('restores the files written before one that cannot be written', () => {
  const changes = new Changes(tree.folder);
  writeFileSync(join(tree.folder, 'in-the-way'), '');
  changes.create('services/half/first.ts', 'text');
  changes.insertBefore('services/billing/src/schema.ts', 'export const schema', '// more\n');
  changes.create('in-the-way/second.ts', 'text');
  expect(() => changes.write()).toThrow();
  expect(sources()).toEqual(untouched);
  expect(existsSync(join(tree.folder, 'services/half'))).toBe(false);
});

test('generates a record, an event and a service that load, with a failing test that names what to write first', () => {
  for (const words of [
    'record tips --owner billing',
    'record work-orders --owner scheduling',
    'event tip-given --from billing --to reporting',
    'service pricing',
  ]) {
    expect(create(...words.split(' '))).toMatchObject({ status: 0, stderr: '' });
  }
  tree.generate();
  // What an install would link.
  symlinkSync(join(tree.folder, 'services/billing/node_modules'), join(tree.folder, 'services/pricing/node_modules'));
  expect(node('services/pricing/src/main.ts', []).stderr).toContain('pricing cannot start:');
  const load = ['billing', 'scheduling'].map((name) => `await import('./services/${name}/src/resources/index.ts');`);
  const events = ['billing/src/events/publish-tip-given', 'reporting/src/events/tip-given'].map((path) => `await import('./services/${path}.ts');`);
  expect(node('--input-type=module', ['--eval', [...load, ...events].join('\n')])).toMatchObject({ status: 0 });
  // The last one needs PostgreSQL, which this run has.
  const said = failures('services/billing/test/tips.test.ts', 'services/pricing/test/operations.test.ts', 'services/reporting/test/tip-given.test.ts');
  expect(said).toContain('Next: add the fields of the record to proto/truckroll/billing/v1/tips.proto');
  expect(said).toContain('Next: write the first operation of pricing in proto/truckroll/pricing/v1/');
  expect(said).toContain('Next: apply 1 events in services/reporting/src/events/tip-given.ts');
}, 180_000);
