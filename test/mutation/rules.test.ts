import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { judge, type Mutant } from './judge.ts';
import { ROOT, codeOf, readList } from './list.ts';
import { testsReaching } from './reach.ts';
import { ruleFiles } from './rule-files.ts';

const { measured, unmeasured } = readList();

test('lists every rule file once', () => {
  expect([...Object.keys(measured), ...unmeasured].sort()).toEqual(ruleFiles(ROOT));
});

test.each(Object.entries(measured))('has tests and reasons for %s', (_, { tests, survivors }) => {
  expect(tests.filter((test) => !existsSync(join(ROOT, test)))).toEqual([]);
  expect(tests).not.toEqual([]);
  expect(Object.values(survivors).filter((reason) => reason.trim() === '')).toEqual([]);
});

test('excludes files that wait or import something that is not a rule', () => {
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

test('finds the tests that import a file by its path, through other modules too', () => {
  const root = mkdtempSync(join(tmpdir(), 'truckroll-rules-'));
  const write = (name: string, text: string): void => writeFileSync(join(root, name), text);
  try {
    mkdirSync(join(root, 'packages/x'), { recursive: true });
    write('packages/x/rule.ts', `import { other } from './other.ts';`);
    write('packages/x/other.ts', `import { rule } from './rule.ts';`);
    write('packages/x/direct.test.ts', `import { rule } from './rule.ts';`);
    write('packages/x/through.test.ts', `import { expect } from 'expect';\nimport { other } from './other.ts';`);
    write('packages/x/type.test.ts', `import type { Rule } from './rule.ts';`);
    write('package.test.ts', `import { rule } from '@truckroll/x';`);
    const tests = ['packages/x/direct.test.ts', 'packages/x/through.test.ts', 'packages/x/type.test.ts', 'package.test.ts'];
    expect(testsReaching(root, 'packages/x/rule.ts', tests)).toEqual(['packages/x/direct.test.ts', 'packages/x/through.test.ts']);
  } finally {
    rmSync(root, { recursive: true });
  }
});

describe('the code of a file', () => {
  const code = codeOf('export const least = (a: number, b: number) => `${a < b ? a : b} // cents`;\n');

  test.each([
    ['a comment of its own line', '// The smaller one.\nexport const least = (a: number, b: number) => `${a < b ? a : b} // cents`;\n'],
    ['a comment behind code', 'export const least = (a: number, b: number) => `${a < b ? a : b} // cents`; // The smaller one.\n'],
    ['documentation', '/** The smaller one. */\nexport const least = (a: number, b: number) => `${a < b ? a : b} // cents`;\n'],
    ['a comment within code', 'export const least = (a: number, /* cents */ b: number) => `${/* least */ a < b ? a : b} // cents`;\n'],
    ['other types', 'type Cents = number;\nexport const least = (a: Cents, b: Cents): string => `${a < b ? a : (b as Cents)} // cents`;\n'],
    ['blank lines', '\n\nexport const least = (a: number, b: number) => `${a < b ? a : b} // cents`;\n\n'],
  ])('stays the same with %s', (_, source) => {
    expect(codeOf(source)).toBe(code);
  });

  test.each([
    ['an operator', 'export const least = (a: number, b: number) => `${a <= b ? a : b} // cents`;\n'],
    ['what looks like a comment in a text', 'export const least = (a: number, b: number) => `${a < b ? a : b} // dollars`;\n'],
  ])('differs with %s', (_, source) => {
    expect(codeOf(source)).not.toBe(code);
  });
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

  test('passes when the tests detect every mutant', () => {
    expect(judge(source, killed, { survivors: {} })).toEqual({ killed: 9, total: 9, problems: [] });
  });

  test.each(['Survived', 'NoCoverage'])('asks for a test or a reason when a mutant is %s', (status) => {
    const mutants = [...killed, mutant(status, 'a <= b')];
    const { problems } = judge(source, mutants, { survivors: {} });
    expect(problems).toEqual([expect.stringContaining('return a < b ? a : b; → return a <= b ? a : b;')]);
    expect(judge(source, mutants, { survivors: { 'return a < b ? a : b; → return a <= b ? a : b;': 'equal numbers are the same' } }).problems).toEqual([]);
  });

  test('counts a mutant that never ends as detected', () => {
    expect(judge(source, [mutant('Timeout', 'true')], { survivors: {} })).toEqual({ killed: 1, total: 1, problems: [] });
  });

  test('leaves out mutants that cannot run', () => {
    expect(judge(source, [mutant('CompileError', 'true')], { survivors: {} })).toEqual({ killed: 0, total: 0, problems: [] });
  });

  test('rejects a reason for a detected mutant', () => {
    const { problems } = judge(source, killed, { survivors: { 'x → y': 'not observable' } });
    expect(problems).toEqual(['rules.json lists "x → y", which does not survive']);
  });

  test('rejects less than 90 % even with reasons', () => {
    const survivors = { 'return a < b ? a : b; → return a <= b ? a : b;': 'equal numbers are the same' };
    const left = mutant('Survived', 'a <= b');
    expect(judge(source, [...killed, left, left], { survivors }).problems).toEqual(['9 of 11 mutants are noticed, fewer than 90 %']);
  });
});
