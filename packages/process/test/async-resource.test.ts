import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { repairNode } from '../src/driver/async-resource.ts';

/** Binds functions without keeping them, each retaining half a kilobyte; prints the growth of the old generation in MB without a full collection. */
const PROGRAM = `
import { AsyncResource } from 'node:async_hooks';
import { getHeapSpaceStatistics } from 'node:v8';
if (process.argv[1] === 'repaired') (await import(process.argv[2])).repairNode();
const old = () => getHeapSpaceStatistics().find(({ space_name }) => space_name === 'old_space').space_used_size / 2 ** 20;
const before = old();
const request = new AsyncResource('REQUEST');
for (let made = 0; made < 8000; made += 1) {
  const memory = new Array(64).fill(made);
  request.bind(() => memory);
}
process.stdout.write(String(old() - before));
`;

const REPAIRS = join(import.meta.dirname, '../src/driver/async-resource.ts');

function becomeOld(which: 'repaired' | 'as it is'): number {
  const args = ['--max-semi-space-size=1', '--initial-old-space-size=200', '--input-type=module', '-e', PROGRAM, which, REPAIRS];
  return Number(execFileSync(process.execPath, args, { encoding: 'utf8', stdio: 'pipe', env: { PATH: process.env['PATH'] } }));
}

test('a function bound to a resource is freed by a young collection, where Node would keep it until a full one', () => {
  expect(becomeOld('as it is')).toBeGreaterThan(6);
  expect(becomeOld('repaired')).toBeLessThan(1);
});

test('a bound function runs in the context of its resource, with its own this, arguments and result', () => {
  const usual = AsyncResource.prototype.bind;
  try {
    repairNode();
    const storage = new AsyncLocalStorage<string>();
    const resource = storage.run('of the resource', () => new AsyncResource('REQUEST'));
    function seen(this: unknown, ...args: number[]) {
      return [storage.getStore(), this, ...args];
    }
    const self = { bound: resource.bind(seen) };
    expect(self.bound(1, 2)).toEqual(['of the resource', self, 1, 2]);
    const bind = resource.bind.bind(resource) as (work: typeof seen, self: string) => typeof seen;
    expect(bind(seen, 'given')(3)).toEqual(['of the resource', 'given', 3]);
  } finally {
    AsyncResource.prototype.bind = usual;
  }
});
