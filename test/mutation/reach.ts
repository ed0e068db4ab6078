// Finds the tests that can notice a change of a file: those that import it, directly or through other modules.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { importedBy } from './rule-files.ts';

/**
 * All paths are from the root. Imports by a package's name do not count: StrykerJS changes a copy of this checkout, whose
 * node_modules lead to the packages of the checkout itself.
 */
export function testsReaching(root: string, file: string, tests: readonly string[]): string[] {
  return tests.filter((test) => {
    const seen = new Set([test]);
    for (const each of seen) for (const name of importsOf(root, each)) if (existsSync(join(root, name))) seen.add(name);
    return seen.has(file);
  });
}

function importsOf(root: string, file: string): string[] {
  return importedBy(ts.createSourceFile(file, readFileSync(join(root, file), 'utf8'), ts.ScriptTarget.Latest, true));
}
