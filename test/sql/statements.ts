// Finds every SQL statement in the sources: recording during tests would miss statements without a test, and take longer.
import { globSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import ts from 'typescript';
import { Evaluator } from './evaluate.ts';

const ROOT = join(import.meta.dirname, '../..');
const SOURCES = ['packages/*/src', 'services/*/src', 'gateway/src', 'tools/cli/src'];

export interface Written {
  /** File and name of the statement; without a name, the function that contains it. */
  readonly at: string;
  readonly file: string;
  /** Whether the object's type is Statement. Other objects have a `text` too, such as messages. */
  readonly declared: boolean;
  readonly texts: readonly string[];
}

export function writtenStatements(root: string = ROOT, folders: readonly string[] = SOURCES): Written[] {
  const files = folders.flatMap((folder) => globSync(`${folder}/**/*.ts`, { cwd: root })).map((file) => join(root, file));
  const program = programOf(
    root,
    files.filter((file) => !file.endsWith('.test.ts') && !file.includes('/gen/')),
  );
  const checker = program.getTypeChecker();
  const sources = program.getSourceFiles().filter(({ fileName }) => !fileName.includes('/gen/'));
  const evaluator = new Evaluator(checker, sources);
  const found: Written[] = [];
  const look = (node: ts.Node): void => {
    if (ts.isObjectLiteralExpression(node)) {
      const text = valueOf(node, 'text');
      if (text !== undefined) {
        const name = valueOf(node, 'name');
        const file = relative(root, node.getSourceFile().fileName);
        const at = `${file} ${name === undefined ? functionAround(node) : evaluator.textOf(name)}`;
        found.push({ at, file, declared: isStatement(checker, node), texts: evaluator.textsOf(text) });
      }
    }
    ts.forEachChild(node, look);
  };
  for (const source of sources) look(source);
  return found;
}

function valueOf(object: ts.ObjectLiteralExpression, name: string): ts.Expression | undefined {
  const property = object.properties.find((each) => each.name?.getText() === name);
  if (property === undefined) return undefined;
  return ts.isPropertyAssignment(property) ? property.initializer : ts.isShorthandPropertyAssignment(property) ? property.name : undefined;
}

function functionAround(node: ts.Node): string {
  let name = 'module';
  for (let at = node; !ts.isSourceFile(at); at = at.parent) {
    if ((ts.isFunctionDeclaration(at) || ts.isMethodDeclaration(at)) && at.name !== undefined) return at.name.getText();
    if (ts.isVariableDeclaration(at)) name = at.name.getText();
  }
  return name;
}

function isStatement(checker: ts.TypeChecker, node: ts.ObjectLiteralExpression): boolean {
  const declared = checker.getContextualType(node)?.getProperty('text')?.declarations ?? [];
  return declared.some(({ parent }) => ts.isInterfaceDeclaration(parent) && parent.name.text === 'Statement');
}

/** Resolves imports within the workspace only: libraries would take longer than everything else. */
function programOf(root: string, files: string[]): ts.Program {
  const options: ts.CompilerOptions = { noLib: true, types: [], allowImportingTsExtensions: true, noEmit: true, target: ts.ScriptTarget.ESNext };
  const host = ts.createCompilerHost(options);
  const resolved = (name: string, from: string): string | undefined => {
    // Generated code has no statements, but most of the lines.
    if (name.includes('/gen/')) return undefined;
    if (name.startsWith('.')) return join(from, '..', name);
    const [scope, part] = name.split('/');
    return scope === '@truckroll' && name.split('/').length === 2 ? join(root, 'packages', part as string, 'src/index.ts') : undefined;
  };
  host.resolveModuleNameLiterals = (names, from) =>
    names.map(({ text }) => {
      const resolvedFileName = resolved(text, from);
      return {
        resolvedModule: resolvedFileName !== undefined && ts.sys.fileExists(resolvedFileName) ? { resolvedFileName, extension: ts.Extension.Ts } : undefined,
      };
    });
  host.readFile = (file) => readFileSync(file, 'utf8');
  return ts.createProgram(files, options, host);
}
