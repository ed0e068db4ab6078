// Every rule file's mutants have been measured, or the file is listed as unmeasured.
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { judge, type Mutant } from './judge.ts';
import { ROOT, readList } from './list.ts';
import { ruleFiles } from './rule-files.ts';

const { measured, unmeasured } = readList();

it('lists every rule file once', () => {
  expect([...Object.keys(measured), ...unmeasured].sort()).toEqual(ruleFiles(ROOT));
});

it.each(Object.entries(measured))('has tests and reasons for %s', (_, { tests, survivors }) => {
  expect(tests.filter((test) => !existsSync(join(ROOT, test)))).toEqual([]);
  expect(tests).not.toEqual([]);
  expect(Object.values(survivors).filter((reason) => reason.trim() === '')).toEqual([]);
});

it('excludes files that wait or import something that is not a rule', () => {
  const root = mkdtempSync(join(tmpdir(), 'truckroll-rules-'));
  const write = (name: string, text: string): void => writeFileSync(join(root, 'packages/x/src', name), text);
  try {
    mkdirSync(join(root, 'packages/x/src'), { recursive: true });
    write('rule.ts', `import { hash } from 'node:crypto';\nexport const digest = (text: string) => hash('sha256', text);`);
    write(
      'uses-rule.ts',
      `import type { Pool } from 'pg';\nimport { digest } from './rule.ts';\nexport const twice = (pool: Pool) => digest(digest(pool.name));`,
    );
    write('reads.ts', `import { readFileSync } from 'node:fs';\nexport const read = () => readFileSync('x');`);
    write('uses-reads.ts', `import { read } from './reads.ts';\nexport const twice = () => [read(), read()];`);
    write('waits.ts', `export async function wait() {}`);
    write('promises.ts', `export const wait = () => Promise.resolve();`);
    write('types.ts', `export interface Shape { a: string }`);
    write('rule.test.ts', `export const test = () => 1;`);
    expect(ruleFiles(root)).toEqual(['packages/x/src/rule.ts', 'packages/x/src/uses-rule.ts']);
  } finally {
    rmSync(root, { recursive: true });
  }
});

describe('a verdict', () => {
  const source = 'export function least(a: number, b: number) {\n  return a < b ? a : b;\n}\n';
  const mutant = (status: string, replacement: string): Mutant => ({
    fileName: 'least.ts',
    status,
    replacement,
    location: { start: { line: 2, column: 10 }, end: { line: 2, column: 15 } },
  });
  const killed = Array.from({ length: 9 }, () => mutant('Killed', 'true'));

  it('passes when the tests detect every mutant', () => {
    expect(judge(source, killed, { survivors: {} })).toEqual({ killed: 9, total: 9, problems: [] });
  });

  it.each(['Survived', 'NoCoverage'])('asks for a test or a reason when a mutant is %s', (status) => {
    const mutants = [...killed, mutant(status, 'a <= b')];
    const { problems } = judge(source, mutants, { survivors: {} });
    expect(problems).toEqual([expect.stringContaining('return a < b ? a : b; → return a <= b ? a : b;')]);
    expect(judge(source, mutants, { survivors: { 'return a < b ? a : b; → return a <= b ? a : b;': 'equal numbers are the same' } }).problems).toEqual([]);
  });

  it('counts a mutant that never ends as detected', () => {
    expect(judge(source, [mutant('Timeout', 'true')], { survivors: {} })).toEqual({ killed: 1, total: 1, problems: [] });
  });

  it('leaves out mutants that cannot run', () => {
    expect(judge(source, [mutant('CompileError', 'true')], { survivors: {} })).toEqual({ killed: 0, total: 0, problems: [] });
  });

  it('rejects a reason for a detected mutant', () => {
    const { problems } = judge(source, killed, { survivors: { 'x → y': 'nobody asks' } });
    expect(problems).toEqual(['rules.json lists "x → y", which does not survive']);
  });

  it('rejects less than 90 % even with reasons', () => {
    const survivors = { 'return a < b ? a : b; → return a <= b ? a : b;': 'equal numbers are the same' };
    const left = mutant('Survived', 'a <= b');
    expect(judge(source, [...killed, left, left], { survivors }).problems).toEqual(['9 of 11 mutants are noticed, fewer than 90 %']);
  });
});
