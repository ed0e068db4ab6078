// Exported types have a name of their own, so that a name leads a reader to one definition.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

const ROOT = join(import.meta.dirname, '..');
/** The published client and the console keep the API's names; loadtest compares the product with others. */
const SOURCES = ['packages/*/src', 'services/*/src', 'gateway/src', 'tools/*/src'];
const APART = ['packages/client/'];

/** Names of the interfaces, type aliases, classes and enums that a source text exports where it defines them. */
function exportedTypes(text: string): string[] {
  return ts.createSourceFile('file.ts', text, ts.ScriptTarget.Latest).statements.flatMap((statement) => {
    const isType =
      ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement) || ts.isClassDeclaration(statement) || ts.isEnumDeclaration(statement);
    if (!isType || statement.name === undefined) return [];
    return statement.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) === true ? [statement.name.text] : [];
  });
}

function shared(texts: ReadonlyMap<string, string>): string[] {
  const named = [...texts].flatMap(([file, text]) => exportedTypes(text).map((name) => ({ name, file })));
  return [...Map.groupBy(named, ({ name }) => name)]
    .filter(([, places]) => new Set(places.map(({ file }) => file)).size > 1)
    .map(([name, places]) => `${name}: ${places.map(({ file }) => file).join(', ')}`);
}

test('gives every exported type a name that no other has', () => {
  const files = SOURCES.flatMap((folder) => globSync(`${folder}/**/*.ts`, { cwd: ROOT })).filter(
    (file) => !/\.(test|d)\.ts$/.test(file) && !file.includes('/gen/') && !APART.some((place) => file.startsWith(place)),
  );
  expect(files.length).toBeGreaterThan(500);
  expect(shared(new Map(files.map((file) => [file, readFileSync(join(ROOT, file), 'utf8')])))).toEqual([]);
});

test('finds interfaces, types, classes and enums of one name in two files', () => {
  const texts = new Map([
    ['a.ts', 'export interface Line { a: 1 }\nexport type Page = 1;\nexport class Pace {}\nexport enum Kind { A }\nexport type { Given } from "x";'],
    ['b.ts', 'export abstract class Line {}\nexport const Page = 1;\ninterface Pace { a: 1 }\nexport type Kind = 1;\nexport type { Given } from "x";'],
    ['c.ts', 'export interface Merged { a: 1 }\nexport interface Merged { b: 1 }'],
  ]);
  expect(shared(texts)).toEqual(['Line: a.ts, b.ts', 'Kind: a.ts, b.ts']);
});
