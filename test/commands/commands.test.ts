// Readers type the commands exactly as documents name them.
import { createJudge, namedCommands } from './named.ts';

test('every command that a document or a help text names exists, with its options', async () => {
  const judge = await createJudge();
  const named = namedCommands();
  expect(named.length).toBeGreaterThan(100);
  expect(named.flatMap(({ file, text }) => [judge(text)].filter((wrong) => wrong !== undefined).map((wrong) => `${file}: \`${text}\`: ${wrong}`))).toEqual([]);
});

test.each([
  ['npm run bench:nothing', 'package.json has no script bench:nothing'],
  ['npm run test:cluster -- --onyl losses', 'test/cluster knows no option --onyl'],
  ['npm test -- test/nowhere', 'test/nowhere'],
  ['npx truckroll key mint --company 1', 'truckroll key has no command mint'],
  ['truckroll import ./x --compny 1', 'truckroll import has no option --compny'],
  ['node scripts/run.mjs opneapi', 'scripts/run.mjs knows no opneapi'],
  ['node loadtest/reads.ts', 'fails on the Node that README asks for: give it a name in scripts/run.mjs'],
  ['node scripts/nothing.mjs', 'there is no scripts/nothing.mjs'],
  ['deploy/release --verfy ./folder', 'deploy/releasing knows no option --verfy'],
])('reports %s', async (command, wrong) => {
  expect((await createJudge())(command)).toBe(wrong);
});
