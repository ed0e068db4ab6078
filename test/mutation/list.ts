// The data about each rule file: the tests for its mutants, and which mutants survive and why.
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

export const ROOT = join(import.meta.dirname, '../..');
const FILE = join(import.meta.dirname, 'rules.json');

export interface Measured {
  readonly tests: readonly string[];
  /** Digest of the code of the file and its tests at the last run that passed: see digestOf. */
  readonly digest: string;
  /** By mutant (see describeMutant), why no test needs to detect it. */
  readonly survivors: Readonly<Record<string, string>>;
}

export interface RuleList {
  readonly measured: Readonly<Record<string, Measured>>;
  readonly unmeasured: readonly string[];
}

export const readList = (): RuleList => JSON.parse(readFileSync(FILE, 'utf8')) as RuleList;

export function writeList(list: RuleList): void {
  writeFileSync(FILE, `${JSON.stringify(list, null, 2)}\n`);
}

export function digestOf(file: string, tests: readonly string[]): string {
  const hash = createHash('sha256');
  for (const each of [file, ...tests]) hash.update(codeOf(readFileSync(join(ROOT, each), 'utf8')));
  return hash.digest('hex').slice(0, 16);
}

/** A source text without its comments and types, which change no result. */
export function codeOf(source: string): string {
  const compilerOptions = { target: ts.ScriptTarget.ESNext, module: ts.ModuleKind.ESNext, verbatimModuleSyntax: true, removeComments: true };
  return ts.transpileModule(source, { compilerOptions }).outputText;
}

export function changedFiles({ measured }: RuleList): string[] {
  return Object.entries(measured).flatMap(([file, { tests, digest }]) => (digestOf(file, tests) === digest ? [] : [file]));
}
