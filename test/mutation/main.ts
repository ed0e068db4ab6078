// `npm run test:mutation`: fails if tests do not detect small changes of rule files. Without arguments, covers the files that
// changed since they were last measured.
import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Stryker } from '@stryker-mutator/core';
import { judge, type Mutant } from './judge.ts';
import { testsReaching } from './reach.ts';
import { ROOT, changedFiles, digestOf, readList, writeList, type Measured } from './list.ts';

const HELP = `usage: npm run test:mutation [-- [--check] [--tests TEST]… FILE…]

Without files: those of test/mutation/rules.json that have changed, or whose tests have. Files that are not measured yet need
--tests with their test files; each file gets those that import it. What passes is noted in test/mutation/rules.json, unless --check is given.`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { help: { type: 'boolean' }, check: { type: 'boolean' }, tests: { type: 'string', multiple: true } },
});
if (values.help) console.log(HELP);
else {
  process.exitCode = await run(positionals, values.tests, values.check === true).catch((error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    return 1;
  });
}

async function run(asked: readonly string[], given: readonly string[] | undefined, check: boolean): Promise<number> {
  const list = readList();
  const chosen = asked.length > 0 ? asked : changedFiles(list);
  if (chosen.length === 0) {
    console.log('No rule file has changed since it was measured.');
    return 0;
  }
  const wanted = chosen.map((file): [string, Measured] => {
    const known = list.measured[file];
    const tests = given === undefined ? known?.tests : testsReaching(ROOT, file, given);
    if (tests === undefined) throw new Error(`${file} is not measured yet: name its tests by --tests`);
    if (tests.length === 0) throw new Error(`no test that was given imports ${file}`);
    return [file, { tests, digest: digestOf(file, tests), survivors: known?.survivors ?? {} }];
  });
  let failed = false;
  // StrykerJS loads all tests of a run for each mutant, so files with other tests get another run.
  for (const group of Map.groupBy(wanted, ([, { tests }]) => tests.join()).values()) {
    const mutants = await mutate(group);
    const passed = group.filter(([file, entry]) => passes(file, entry, mutants));
    failed ||= passed.length < group.length;
    if (!check) note(passed);
  }
  return failed ? 1 : 0;
}

function passes(file: string, entry: Measured, all: readonly Mutant[]): boolean {
  const mutants = all.filter(({ fileName }) => relative(ROOT, fileName) === file);
  const { killed, total, problems } = judge(readFileSync(join(ROOT, file), 'utf8'), mutants, entry);
  console.log(`${file}: ${killed} of ${total} mutants noticed`);
  for (const problem of problems) console.log(`  ${problem}`);
  return problems.length === 0;
}

function note(passed: readonly (readonly [string, Measured])[]): void {
  const { measured: before, unmeasured } = readList();
  const measured = { ...before, ...Object.fromEntries(passed) };
  const sorted = Object.fromEntries(Object.entries(measured).sort(([a], [b]) => (a < b ? -1 : 1)));
  writeList({ measured: sorted, unmeasured: unmeasured.filter((file) => measured[file] === undefined) });
}

type Options = ConstructorParameters<typeof Stryker>[0];

/** String literals are not mutated, because their wording is not a rule. */
async function mutate(files: readonly (readonly [string, Measured])[]): Promise<readonly Mutant[]> {
  const tests = new Set(files.flatMap(([, each]) => each.tests));
  return await new Stryker({
    mutate: files.map(([file]) => file),
    mutator: { excludedMutations: ['StringLiteral'], plugins: [] },
    testRunner: 'jest',
    plugins: [fileURLToPath(import.meta.resolve('@stryker-mutator/jest-runner'))],
    testRunnerNodeArgs: ['--experimental-vm-modules', '--no-warnings'],
    coverageAnalysis: 'perTest',
    jest: {
      projectType: 'custom',
      configFile: 'jest.config.mjs',
      enableFindRelatedTests: false,
      // StrykerJS switches mutants on in Jest's own context.
      config: {
        testMatch: [...tests].map((test) => `<rootDir>/${test}`),
        testRunner: 'jest-circus/runner',
        extensionsToTreatAsEsm: ['.ts'],
        transform: { '^.+\\.ts$': ['@swc/jest', { jsc: { parser: { syntax: 'typescript' }, target: 'es2024' }, module: { type: 'es6' } }] },
      },
    },
    concurrency: 2,
    // A test that only waits for a busy processor must not count as one that noticed.
    timeoutMS: 30_000,
    tempDirName: '.truckroll/mutation',
    ignorePatterns: ['.truckroll', 'deploy', 'docs', 'loadtest', 'proto'],
    reporters: ['progress-append-only'],
    warnings: false,
    logLevel: 'warn' as NonNullable<Options['logLevel']>,
    allowConsoleColors: false,
  }).runMutationTest();
}
