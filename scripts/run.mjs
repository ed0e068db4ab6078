// Runs the npm scripts with any Node: installs packages, finds Node 24, generates code, and runs the program as if called directly.
import { spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { isAsNoted } from './as-noted.mjs';
import { COMPILED, bundleOf } from './bundles.mjs';
import { alone, install } from './install.mjs';
import { environmentFor, findNode } from './node24.mjs';

const root = join(import.meta.dirname, '..');
const [name = '', ...args] = process.argv.slice(2);

/** `supervised` programs end their own processes when the IPC channel closes. `bundled` ones run from their bundle if there is one. */
const programs = {
  start: { script: 'tools/local-stack/src/start-main.ts', bundled: true, supervised: true, env: { NODE_COMPILE_CACHE: COMPILED } },
  servers: { script: 'tools/local-stack/src/servers-main.ts', supervised: true },
  test: { script: 'tools/local-stack/src/test-main.ts', supervised: true, env: { NODE_COMPILE_CACHE: COMPILED } },
  // npm changes to the root; relative paths among the arguments refer to the folder where the command was typed.
  truckroll: {
    script: 'tools/cli/src/main.ts',
    cwd: process.env.npm_lifecycle_event === 'truckroll' ? process.env.INIT_CWD : process.cwd(),
  },
  // TypeScript 7 has no stable API: what imports `typescript` (test/, openapi-typescript) gets version 6.
  typecheck: { script: 'node_modules/typescript-7/bin/tsc', args: ['-b', 'tsconfig.json', 'gateway/console', 'gateway/docs/browser', 'test/console'] },
  'check:imports': {
    script: 'node_modules/dependency-cruiser/bin/dependency-cruiser.mjs',
    args: ['--config', 'dependency-cruiser.config.mjs', '--output-type', 'err', 'packages', 'services', 'gateway', 'tools', 'loadtest', 'test'],
  },
  'check:unused': { script: 'node_modules/knip/bin/knip.js', args: ['--no-progress', '--treat-config-hints-as-errors'] },
  format: { script: 'node_modules/@biomejs/biome/bin/biome', args: ['format', '--write'] },
  'format:check': { script: 'node_modules/@biomejs/biome/bin/biome', args: ['format'] },
  lint: { script: 'node_modules/oxlint/bin/oxlint' },
  'check:words': { script: 'tools/plain-english.mjs' },
  'test:durations': { script: 'tools/local-stack/src/test-main.ts', supervised: true, env: { NODE_COMPILE_CACHE: COMPILED, TEST_DURATIONS: 'write' } },
  'test:fuzz': { script: 'test/fuzz/main.ts', supervised: true },
  'test:reports': { script: 'tools/local-stack/src/test-main.ts', args: ['test/reports/oracle'], supervised: true, env: { REPORT_COMPANIES: '200' } },
  'test:faults': { script: 'test/faults/main.ts', supervised: true },
  'test:changes': { script: 'test/changes/main.ts', supervised: true },
  'test:move': { script: 'test/moving/main.ts', supervised: true },
  'test:mixed': { script: 'test/mixed/main.ts', supervised: true },
  'test:mutation': { script: 'test/mutation/main.ts' },
  new: { script: 'scripts/new.mjs' },
  generate: {},
  openapi: { script: 'gateway/src/openapi/write.ts' },
  'openapi:check': { script: 'gateway/src/openapi/write.ts', args: ['--check'] },
  observability: { script: 'test/observability/write.ts' },
  'observability:check': { script: 'test/observability/write.ts', args: ['--check'] },
  python: { script: 'test/python/write.ts' },
  'check:python': { script: 'test/python/write.ts', args: ['--check'] },
  'demo:speed': { script: 'tools/demo-company/test/speed.ts' },
  load: { script: 'loadtest/load.ts', supervised: true },
  'test:cluster': { script: 'test/cluster/main.ts' },
  'check:docs': { script: 'test/docs/main.ts' },
  'trial:integrator': { script: 'test/trial/main.ts' },
  'check:generators': { script: 'test/generators/main.ts' },
  'check:runtimes': { script: 'test/runtimes/main.ts' },
  'check:chart': { script: 'deploy/check-chart.mjs' },
  'check:api': { script: 'scripts/check-api.mjs' },
  'check:client': { script: 'scripts/check-client.mjs' },
  'openapi:lint': { script: 'gateway/node_modules/@redocly/cli/bin/cli.js', args: ['lint', '--extends', 'recommended', 'gateway/openapi.json'] },
};

function programFor(asked) {
  if (Object.hasOwn(programs, asked)) return programs[asked];
  const bench = /^bench:([a-z-]+)$/.exec(asked);
  return bench ? { script: `loadtest/${bench[1]}.ts`, supervised: true } : undefined;
}

try {
  const program = programFor(name);
  if (!program) throw new Error(`usage: node scripts/run.mjs ${Object.keys(programs).join('|')}|bench:NAME [arguments]`);
  const node = await alone(prepare);
  process.exitCode = program.script ? await run(node, program) : 0;
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}

/** Prepares the checkout; run under the lock, so that two commands that start at once prepare it once. Returns the path of Node. */
function prepare() {
  install();
  const node = findNode();
  if (isAsNoted('generated')) return node;
  const generated = spawnSync(node, [join(root, 'scripts/generate.mjs')], { stdio: ['ignore', 2, 2], env: environmentFor(node) });
  if (generated.status !== 0) throw new Error('Code could not be generated from proto/, for the reason above.');
  return node;
}

function run(node, program) {
  const script = (program.bundled && bundleOf(program.script)) || join(root, program.script);
  const child = spawn(node, [script, ...(program.args ?? []), ...args], {
    stdio: ['inherit', 'inherit', 'inherit', ...(program.supervised ? ['ipc'] : [])],
    cwd: program.cwd ?? root,
    env: { ...program.env, ...environmentFor(node) },
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  watchNpm(child);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => resolve(code ?? 128 + (constants.signals[signal] ?? 0)));
  });
}

/** A killed npm cannot forward the signal. If there is a shell in between, which lives on, its parent is watched too, but never npm's parent. */
function watchNpm(child) {
  if (!process.env.npm_lifecycle_event) return;
  const parent = process.ppid;
  const shell = /^(sh|dash|bash|ash|busybox)$/.test(processFile(parent, 'comm').trim());
  const npm = () => (shell ? parentOf(parent) : process.ppid);
  const before = npm();
  setInterval(() => {
    if (process.ppid !== parent || npm() !== before) child.kill('SIGTERM');
  }, 1000).unref();
}

function parentOf(pid) {
  return processFile(pid, 'stat')
    .replace(/^.*\) /s, '')
    .split(' ')[1];
}

/** Empty if the system has no /proc, or no such process. */
function processFile(pid, name) {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8');
  } catch {
    return '';
  }
}
