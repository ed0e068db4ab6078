// Rules are synchronous functions over values, in files which import nothing that does I/O. They decide most figures and states,
// and tests reach them without a server.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

/** The code that serves requests, and the published client. */
const SOURCES = ['packages/*/src', 'services/*/src', 'gateway/src'];
const COMPUTING = ['@truckroll/contract', 'ipaddr.js', 'node:buffer', 'node:crypto', 'node:util', 'temporal-polyfill'];
const TIMERS = ['setImmediate', 'setInterval', 'setTimeout'];

/** Paths from the root, sorted. A file that imports one that is not a rule file is not a rule file either. */
export function ruleFiles(root: string): string[] {
  const files = SOURCES.flatMap((folder) => globSync(`${folder}/**/*.ts`, { cwd: root })).filter(
    (file) => !/\.(test|d)\.ts$/.test(file) && !file.includes('/gen'),
  );
  const parsed = new Map(files.map((file) => [file, ts.createSourceFile(file, readFileSync(join(root, file), 'utf8'), ts.ScriptTarget.Latest, true)]));
  const imports = new Map([...parsed].map(([file, source]) => [file, importedBy(source)]));
  const computing = new Set(files);
  for (let size = 0; size !== computing.size; ) {
    size = computing.size;
    for (const file of computing) if (!imports.get(file)!.every((name) => computing.has(name) || isComputing(name))) computing.delete(file);
  }
  return [...computing].filter((file) => isSynchronous(parsed.get(file)!)).sort();
}

function isComputing(name: string): boolean {
  return name.includes('/gen/') || COMPUTING.some((each) => name === each || name.startsWith(`${each}/`));
}

/** Modules whose values a file imports; relative ones as paths from the root. */
export function importedBy(source: ts.SourceFile): string[] {
  return source.statements.flatMap((statement) => {
    const typesOnly = ts.isImportDeclaration(statement)
      ? statement.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword
      : ts.isExportDeclaration(statement) && statement.isTypeOnly;
    if ((!ts.isImportDeclaration(statement) && !ts.isExportDeclaration(statement)) || statement.moduleSpecifier === undefined || typesOnly) return [];
    const name = (statement.moduleSpecifier as ts.StringLiteral).text;
    return [name.startsWith('.') ? join(source.fileName, '..', name) : name];
  });
}

/** Whether a file has functions, and none of them awaits or uses timers. */
function isSynchronous(source: ts.SourceFile): boolean {
  let functions = 0;
  let waits = false;
  const look = (node: ts.Node): void => {
    if (ts.isFunctionLike(node) && 'body' in node && node.body !== undefined) functions++;
    waits ||= node.kind === ts.SyntaxKind.AsyncKeyword || (ts.isIdentifier(node) && [...TIMERS, 'Promise'].includes(node.text));
    ts.forEachChild(node, look);
  };
  look(source);
  return functions > 0 && !waits;
}
