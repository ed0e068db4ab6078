import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

const PROGRAM = `
import { PerformanceObserver } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
if (process.argv[1] !== 'usual') (await import(process.argv[2])).growHeapInLargerSteps(...(process.argv[1] === 'larger' ? [] : [50]));
let collections = 0;
const observer = new PerformanceObserver((list) => {
  for (const { detail } of list.getEntries()) if (detail.kind === 4) collections += 1;
});
observer.observe({ entryTypes: ['gc'] });
// 35 MB that stay, and objects that live until the second collection of the young generation, which has 8 MB. V8 makes
// shorter-lived ones old only in some runs.
const stays = Array.from({ length: 35 }, () => new Array(2 ** 17).fill(0).map((_, index) => index + 0.5));
const ring = new Array(2 ** 18);
for (let made = 0; made < 2 ** 22; made += 1) {
  ring[made % ring.length] = [made, made, made, made, made, made, made, made];
  if (made % 2 ** 15 === 0) await delay(0);
}
await delay(0);
observer.disconnect();
process.stdout.write(String(collections + 0 * stays.length));
`;

const HEAP = join(import.meta.dirname, '../src/driver/heap.ts');

function collections(growth: 'larger' | 'half' | 'usual', bound: number): number {
  // Without concurrent marking threads, the number of collections depends only on the allocations, not on the load of the machine.
  const v8 = [`--max-old-space-size=${bound}`, '--max-semi-space-size=8', '--single-threaded-gc', '--no-memory-reducer'];
  const args = [...v8, '--input-type=module', '-e', PROGRAM, growth, HEAP];
  return Number(execFileSync(process.execPath, args, { encoding: 'utf8', stdio: 'pipe', env: { PATH: process.env['PATH'] } }));
}

describe('a heap with a limit', () => {
  test('has fewer full collections if it may grow in larger steps', () => {
    const usual = collections('usual', 358);
    expect(usual).toBeGreaterThan(3);
    const larger = collections('larger', 358);
    expect(larger).toBeLessThan(0.7 * usual);
    expect(collections('half', 358)).toBeGreaterThan(larger);
  });

  test('still keeps to its limit', () => {
    expect(() => collections('larger', 24)).toThrow(/heap out of memory/);
  });
});
