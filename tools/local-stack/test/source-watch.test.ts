import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '@truckroll/testing/until';
import { choosePort } from '../src/ports.ts';
import { watchSources } from '../src/start/source-watch.ts';
import { runSystem } from '../src/start/system.ts';
import { Scratch } from './support.ts';

const scratch = new Scratch();
const stopping = new AbortController();
afterAll(async () => {
  stopping.abort();
  await scratch.end();
});

/** A program that answers with its process and a word from another module. It fails on request. */
const SERVES = `
  import { createServer } from 'node:http';
  import { word } from './word.ts';
  import { shared } from '../shared/gen/shared.ts';
  const port: string = process.env.METRICS_PORT!;
  createServer((request, response) => response.end(JSON.stringify({ pid: process.pid, word, shared, stack: new Error().stack }))).listen(port, '127.0.0.1');
`;

interface Answer {
  readonly pid: number;
  readonly word: string;
  readonly shared: string;
  readonly stack: string;
}

async function watched() {
  const state = scratch.folder();
  const write = (path: string, text: string): void => {
    mkdirSync(join(state, path, '..'), { recursive: true });
    writeFileSync(join(state, path), text);
  };
  const names = ['billing', 'scheduling'];
  write('shared/gen/shared.ts', `export const shared: string = 'first';`);
  for (const name of names) {
    write(`${name}/main.ts`, SERVES);
    write(`${name}/word.ts`, `export const word: string = 'first';`);
  }
  const said: string[] = [];
  const say = (line: string): void => void said.push(line);
  const { signal } = stopping;
  const bundles = await watchSources({
    components: Object.fromEntries(names.map((name) => [name, join(state, name, 'main.ts')])),
    folder: join(state, 'watched'),
    restart: (...changed) => void system.replace(...changed),
    say,
    signal,
  });
  const processes = await Promise.all(
    names.map(async (name) => {
      const METRICS_PORT = String(await choosePort());
      const url = `http://127.0.0.1:${METRICS_PORT}`;
      return { name, script: bundles.get(name)!, order: 'service', metricsUrl: url, readyUrl: url, environment: { METRICS_PORT } } as const;
    }),
  );
  const environment = { ...process.env, NODE_OPTIONS: '--enable-source-maps' };
  const system = runSystem({ processes, state, watchdog: scratch.watchdog(), say, environment, signal });
  await system.ready;
  const answers = async (): Promise<Answer[]> => await Promise.all(processes.map(async ({ readyUrl }) => (await (await fetch(readyUrl)).json()) as Answer));
  const restarts = (): string[] => said.filter((line) => line.includes('is ready again')).map((line) => line.split(' ')[0]!);
  return { state, write, said, answers, restarts };
}

test('restarts only the components whose sources change, with source maps, and keeps those running whose sources have errors', async () => {
  const { state, write, said, answers, restarts } = await watched();
  const before = await answers();
  expect(before[0]!.stack).toContain(`${join(state, 'billing/main.ts')}:6:`);

  write('billing/word.ts', `export const word: string = 'second';`);
  await until('a restart', () => restarts().length === 1);
  const [billing, scheduling] = await answers();
  expect(billing).toMatchObject({ word: 'second' });
  expect(billing!.pid).not.toBe(before[0]!.pid);
  expect(scheduling).toEqual(before[1]);

  write('billing/word.ts', `import { third } from './third.ts';\nexport const word: string = third;`);
  await until('the error', () => said.some((line) => line.includes('billing/word.ts:1:') && line.includes('third.ts')));
  expect(await answers()).toEqual([billing, scheduling]);
  write('billing/third.ts', `export const third = 'third';`);
  await until('a second restart', () => restarts().length === 2);
  expect((await answers()).map(({ word }) => word)).toEqual(['third', 'first']);
  expect(restarts()).toEqual(['billing', 'billing']);

  // As `npm run generate` does it.
  write('shared/gen.new/shared.ts', `export const shared: string = 'second';`);
  rmSync(join(state, 'shared/gen'), { recursive: true });
  renameSync(join(state, 'shared/gen.new'), join(state, 'shared/gen'));
  await until('four restarts', () => restarts().length === 4);
  write('shared/gen/shared.ts', `export const shared: string = 'third';`);
  await until('the restarts of all', async () => restarts().length >= 6 && (await answers()).every(({ shared }) => shared === 'third'));
  expect((await answers()).map(({ word }) => word)).toEqual(['third', 'first']);
}, 120_000);
