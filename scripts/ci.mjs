// Runs every check, even after one has failed, then every test (.ci/run). Each counts as one; what cannot be counted is a failure.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';

const root = join(import.meta.dirname, '..');
const buf = (...args) => ['node_modules/.bin/buf', ...args];
const script = (name) => ['node', 'scripts/run.mjs', name];

// Others read what these write.
const first = [
  ['what of the contract follows from the rest of it is written', ['node', 'scripts/derive-protos.mjs', '--check']],
  ['code is generated', script('generate')],
];
// Longest first.
const checks = [
  ['a fuzzer finds no answer that the description does not have', [...script('test:fuzz'), '--seconds', '60']],
  ['types are right', script('typecheck')],
  ['lint is clean', script('lint')],
  ['code is formatted', script('format:check')],
  ['imports go in no circle and point where they may', script('check:imports')],
  ['no export, file or dependency is unused', script('check:unused')],
  ['comments, names and prose are plain English', script('check:words')],
  ['the contract follows the style', buf('lint', 'proto')],
  ['the contract is formatted', buf('format', 'proto', '--diff', '--exit-code', '--path', 'proto/truckroll')],
  ['the contract breaks no released client', buf('breaking', 'proto', '--against', 'proto/released.binpb')],
  ['the OpenAPI description is what the contract says', script('openapi:check')],
  ['the OpenAPI description passes the linter', script('openapi:lint')],
  ['the list of metrics, the alert rules and their objectives are what the code and slo.json say', script('observability:check')],
  ['the client is small, every resolver finds it, and what its README shows compiles', script('check:client')],
  ['the Python client is what it is made from, and passes its checks', script('check:python')],
  ['the chart passes its checks', script('check:chart')],
  ['the OpenAPI description breaks no caller of the last release unannounced', script('check:api')],
  ['tests notice faults in the rules that have changed', [...script('test:mutation'), '--check']],
];

let passed = 0;
let failed = 0;
const startedAt = performance.now();

// Compiles the tools in the background while checks use one processor: the first time this takes minutes.
const tools = `
  const modules = ['./scripts/api-tools.mjs', './deploy/chart-tools.mjs', './deploy/releasing/registry.mjs'].map((each) => import(each));
  const [{ apiTools }, { chartTools }, { releaseTools }] = await Promise.all(modules);
  chartTools();
  apiTools();
  releaseTools();
`;
const compiled = once(spawn(process.execPath, ['--input-type=module', '-e', tools], { cwd: root, stdio: 'inherit' }), 'close');

for (const each of first) await check(each);
const left = [...checks];
await Promise.all([checkNext(), checkNext()]);

async function checkNext() {
  for (let next = left.shift(); next !== undefined; next = left.shift()) await check(next);
}

/** Prints what the check printed at its end, so that two at once stay apart. */
async function check([name, [command, ...args]]) {
  // If compiling fails, the check compiles again and reports the error.
  if (args.some((arg) => arg === 'check:chart' || arg === 'check:api')) await compiled;
  const began = performance.now();
  const running = spawn(command, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
  const printed = [];
  for (const stream of [running.stdout, running.stderr]) stream.on('data', (chunk) => printed.push(chunk));
  const [status] = await once(running, 'close');
  process.stdout.write(Buffer.concat(printed));
  const good = status === 0;
  console.log(`${good ? 'ok' : 'FAILED'}: ${name} (${seconds(began)} s)`);
  if (good) passed++;
  else failed++;
}

const folder = mkdtempSync(join(tmpdir(), 'truckroll-ci-'));
const report = join(folder, 'jest.json');
const { status } = spawnSync('npm', ['test', '--', '--ci', '--json', `--outputFile=${report}`], { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] });
try {
  const results = JSON.parse(readFileSync(report, 'utf8'));
  passed += results.numPassedTests;
  failed += results.numFailedTests + results.numRuntimeErrorTestSuites;
  if (status !== 0 && results.numFailedTests + results.numRuntimeErrorTestSuites === 0) failed++;
  if (results.numPassedTests === 0) failed++;
  for (const { name, assertionResults } of results.testResults)
    for (const each of assertionResults) if (each.status === 'failed') console.log(`FAILED: ${relative(root, name)}: ${each.fullName}`);
  const slowest = results.testResults.map(({ name, startTime, endTime }) => ({ name, ms: endTime - startTime })).sort((a, b) => b.ms - a.ms);
  console.log('The ten slowest files:');
  for (const { name, ms } of slowest.slice(0, 10)) console.log(`${(ms / 1000).toFixed(1).padStart(7)} s  ${relative(root, name)}`);
} catch {
  console.log('FAILED: the tests left no report');
  failed++;
}
rmSync(folder, { recursive: true, force: true });

console.log(`finished in ${seconds(startedAt)} s`);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;

function seconds(since) {
  return ((performance.now() - since) / 1000).toFixed(1);
}
