// Finds the commands that documents and help texts name, and says what is wrong with them.
import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ROOT } from '@truckroll/local-stack';
import { programs as integrators } from '../../packages/cli/test/program.ts';
import { wholeProgram } from '../../tools/cli/test/program.ts';

export interface Named {
  readonly file: string;
  readonly text: string;
}

const DOCUMENTS = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'docs/*.md',
  'docs/*/*.md',
  '{packages,services,tools}/*/README.md',
  'gateway/{,*/}README.md',
  '{loadtest,test}/README.md',
  'deploy/helm/truckroll/README.md',
];
const HELP = [
  'tools/*/src/**/*.ts',
  'test/*/main.ts',
  'test/observability/write.ts',
  'loadtest/*.ts',
  'loadtest/load/*.ts',
  'services/*/src/**/*.ts',
  'gateway/src/**/*.ts',
  'scripts/*.mjs',
  'deploy/*.{mjs,yaml}',
  'deploy/images',
];
const BEGIN = /^(?:npx truckroll|truckroll|npm (?:run|start|test)|node [\w./-]+\.(?:ts|mjs)|deploy\/(?:images|release)|\.ci\/run)(?=\s|$)/;

/** Every command written as code in a document, or in backticks or on its own line in a help text. */
export function namedCommands(): Named[] {
  const documents = files(DOCUMENTS).flatMap((file) => codeOf(read(file)).map((text) => ({ file, text })));
  const help = files(HELP).flatMap((file) => quotedIn(read(file)).map((text) => ({ file, text })));
  return [...documents, ...help].flatMap(({ file, text }) => commandsIn(text).map((each) => ({ file, text: each })));
}

function codeOf(text: string): string[] {
  const fences: string[] = [];
  const rest = text.replace(/^```.*\n([^]*?)^```/gm, (_, code: string) => (fences.push(...code.split('\n')), ''));
  return [...fences, ...[...rest.matchAll(/`([^`]+)`/g)].map(([, code]) => (code as string).replace(/\s+/g, ' '))];
}

function quotedIn(source: string): string[] {
  const quoted = [...source.matchAll(/\\?`((?:npx|npm|truckroll|node) [^`\\$]+)\\?`/g)].map(([, text]) => (text as string).replace(/\s+/g, ' '));
  const lines = [...source.matchAll(/^ {2,4}((?:npx truckroll|truckroll|npm run) [^`'$\n]+)$/gm)].map(([, text]) => text as string);
  return [...quoted, ...lines];
}

function commandsIn(text: string): string[] {
  const [code = ''] = text.split(/\s#\s|\s{2,}#/);
  return code
    .split(/&&|\|\||;/)
    .map((part) => part.trim().replace(/^(?:[A-Z_]+=\S+ )+/, ''))
    .filter((part) => BEGIN.test(part));
}

function programs(): ReadonlyMap<string, string> {
  const source = read('scripts/run.mjs');
  const named = [
    ...source
      .slice(source.indexOf('const programs'), source.indexOf('function programFor'))
      .matchAll(/^ {2}'?([\w:-]+)'?: \{(?:\s*(?:\/\/.*\n\s*)*script: '([^']+)')?/gm),
  ];
  const benches = globSync('loadtest/*.ts', { cwd: ROOT }).map((file) => [`bench:${file.slice('loadtest/'.length, -'.ts'.length)}`, file] as const);
  return new Map([...named.map(([, name, script]) => [name as string, script ?? ''] as const), ...benches]);
}

/** Creates a function that says what is wrong with a command; undefined when it is correct. */
export async function createJudge(): Promise<(text: string) => string | undefined> {
  const scripts = new Set(Object.keys((JSON.parse(read('package.json')) as { scripts: Record<string, string> }).scripts));
  const known = programs();
  const [operators, integrators] = await Promise.all([operatorsProgram(), integratorsProgram()]);
  const tests = files(['test/**/*.test.ts', '{packages,services,tools}/*/test/**/*.test.ts', 'gateway/test/**/*.test.ts']);

  function npm(name: string, given: readonly string[]): string | undefined {
    if (!scripts.has(name)) return `package.json has no script ${name}`;
    if (name === 'test') return given.find((path) => /^[\w/.-]+$/.test(path) && !path.startsWith('-') && !tests.some((file) => file.includes(path)));
    return unknownOption(known.get(name) ?? '', given);
  }

  return (text) => {
    const words = text.split(' ').map((word) => word.replace(/[,.]$/, ''));
    const given = words.includes('--') ? words.slice(words.indexOf('--') + 1) : [];
    const own = words.slice(words.indexOf('truckroll') + 1);
    if (words[0] === 'npx') return operators(own);
    // Both programs have the name.
    if (words[0] === 'truckroll') return integrators(own) && operators(own);
    if (words[0] === 'npm') return npm(words[1] === 'run' ? (words[2] as string) : (words[1] as string), given);
    const path = words[0] === 'node' ? (words[1] as string) : (words[0] as string);
    // A program that the reader has saved.
    if (words[0] === 'node' && /^\w+\.ts$/.test(path)) return undefined;
    if (!existsSync(join(ROOT, path))) return `there is no ${path}`;
    if (words[0] !== 'node') {
      if ((statSync(join(ROOT, path)).mode & 0o111) === 0) return `${path} cannot be executed`;
      return path === 'deploy/release' ? unknownOption('deploy/releasing/main.mjs', words) : undefined;
    }
    if (path.endsWith('.ts')) return 'fails on the Node that README asks for: give it a name in scripts/run.mjs';
    return path === 'scripts/run.mjs' && !known.has(words[2] ?? '') ? `scripts/run.mjs knows no ${words[2]}` : undefined;
  };
}

function unknownOption(script: string, given: readonly string[]): string | undefined {
  const options = given.flatMap((word) => /^--([a-z][a-z-]*)/.exec(word)?.[1] ?? []);
  if (options.length === 0) return undefined;
  const sources = files([`${dirname(script)}/**/*.{ts,mjs}`])
    .map(read)
    .join('\n');
  const unknown = options.find((option) => !new RegExp(`--${option}\\b|['"]?${option}['"]?: \\{ type`).test(sources));
  return unknown && `${dirname(script)} knows no option --${unknown}`;
}

type Verdict = (words: readonly string[]) => string | undefined;

async function operatorsProgram(): Promise<Verdict> {
  const program = await wholeProgram();
  return (words) => verdict(program, words);
}

async function integratorsProgram(): Promise<Verdict> {
  const make = await integrators();
  return (words) => verdict(make(words), words);
}

/** Checks the words after `truckroll` against the commands and options that the program declares. */
function verdict(program: Awaited<ReturnType<typeof wholeProgram>>, words: readonly string[]): string | undefined {
  let command = program;
  const options = program.options.map(({ long }) => long).concat('--help', '--json', '--version');
  for (const word of words) {
    if (!/^[a-z][a-z-]*$/.test(word) || command.commands.length === 0) break;
    const next = command.commands.find((each) => each.name() === word || each.aliases().includes(word));
    if (next === undefined) return `truckroll ${command === program ? '' : `${command.name()} `}has no command ${word}`;
    options.push(...next.options.map(({ long }) => long));
    command = next;
  }
  // When a group of commands is named, accept the options of all its subcommands.
  if (command !== program) options.push(...command.commands.flatMap((each) => each.options.map(({ long }) => long)));
  const unknown = words.find((word) => /^--[a-z]/.test(word) && !options.includes(word.split('=')[0]));
  return unknown && `truckroll ${command.name()} has no option ${unknown}`;
}

function files(patterns: readonly string[]): string[] {
  return globSync(patterns, { cwd: ROOT, exclude: ['**/node_modules/**', '**/gen/**'] }).toSorted();
}

function read(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8');
}
