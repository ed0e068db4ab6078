// `npm run test:mutation`: changes rule files in small ways, one at a time, and fails if their tests do not detect it. Without arguments,
// covers the files that changed since they were last measured.
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
  const wanted = new Map(
    chosen.map((file): [string, Measured] => {
      const known = list.measured[file];
      const tests = given === undefined ? known?.tests : testsReaching(ROOT, file, given);
      if (tests === undefined) throw new Error(`${file} is not measured yet: name its tests by --tests`);
      if (tests.length === 0) throw new Error(`no test that was given imports ${file}`);
      return [file, { tests, digest: digestOf(file, tests), survivors: known?.survivors ?? {} }];
    }),
  );
  const mutants = await mutate(wanted);
  const measured = { ...list.measured };
  let failed = false;
  for (const [file, entry] of wanted) {
    const own = mutants.filter(({ fileName }) => relative(ROOT, fileName) === file);
    const { killed, total, problems } = judge(readFileSync(join(ROOT, file), 'utf8'), own, entry);
    console.log(`${file}: ${killed} of ${total} mutants noticed`);
    for (const problem of problems) console.log(`  ${problem}`);
    failed ||= problems.length > 0;
    if (problems.length === 0) measured[file] = entry;
  }
  if (!check) {
    const sorted = Object.fromEntries(Object.entries(measured).sort(([a], [b]) => (a < b ? -1 : 1)));
    writeList({ measured: sorted, unmeasured: list.unmeasured.filter((file) => measured[file] === undefined) });
  }
  return failed ? 1 : 0;
}

type Options = ConstructorParameters<typeof Stryker>[0];

/** String literals are not mutated, because their wording is not a rule. */
async function mutate(files: ReadonlyMap<string, Measured>): Promise<readonly Mutant[]> {
  const tests = new Set([...files.values()].flatMap((each) => each.tests));
  return await new Stryker({
    mutate: [...files.keys()],
    mutator: { excludedMutations: ['StringLiteral'], plugins: [] },
    testRunner: 'jest',
    plugins: [fileURLToPath(import.meta.resolve('@stryker-mutator/jest-runner'))],
    testRunnerNodeArgs: ['--experimental-vm-modules', '--no-warnings'],
    coverageAnalysis: 'perTest',
    jest: {
      projectType: 'custom',
      configFile: 'jest.config.mjs',
      enableFindRelatedTests: false,
      config: { testMatch: [...tests].map((test) => `<rootDir>/${test}`) },
    },
    concurrency: 2,
    tempDirName: '.truckroll/mutation',
    ignorePatterns: ['.truckroll', 'deploy', 'docs', 'loadtest', 'proto'],
    reporters: ['progress-append-only'],
    warnings: false,
    logLevel: 'warn' as NonNullable<Options['logLevel']>,
    allowConsoleColors: false,
  }).runMutationTest();
}
