// The variables of every component: names, defaults and forms from its settings, meanings from the comments above them.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { addressVariable, components, owners } from '@truckroll/contract';
import { ROOT } from '@truckroll/local-stack';
import type { Settings } from '@truckroll/process';
import { withMarked } from './marked.ts';

interface Variable {
  readonly name: string;
  readonly fallback: string;
  readonly form: string;
  readonly file: boolean;
}

/** The page with the table of variables. Throws when a variable has no comment. */
export function withVariables(page: string, settings: ReadonlyMap<string, Settings>, meanings: ReadonlyMap<string, string>): string {
  const groups = Map.groupBy(variablesOf(settings), ({ of }) => headingOf(of, settings.size));
  const sections = [...groups]
    .toSorted(([, a], [, b]) => b[0]!.of.length - a[0]!.of.length)
    .map(([heading, variables]) => {
      const rows = variables.map(({ variable, fallback, form, file }) => {
        const meaning = meanings.get(variable);
        if (meaning === undefined) throw new Error(`${variable} has no comment above its setting`);
        return `| \`${variable}\`${file ? ' †' : ''} | ${fallback} | ${escaped(`${meaning} ${form}`.trim())} |`;
      });
      return [`### ${heading}`, '', '| Variable | Default | Meaning |', '|---|---|---|', ...rows, ''].join('\n');
    });
  return withMarked(page, 'variables', `\n${sections.join('\n')}`);
}

export async function componentSettings(): Promise<ReadonlyMap<string, Settings>> {
  const found = new Map<string, Settings>();
  for (const { name } of components) {
    const file = name === 'gateway' ? 'gateway/src/config.ts' : `services/${name}/src/config.ts`;
    const { settings } = (await import(pathToFileURL(join(ROOT, file)).href)) as { settings: Settings };
    found.set(name, settings);
  }
  return found;
}

/** The comment above each setting, by the name of its variable. */
export function settingComments(): ReadonlyMap<string, string> {
  const files = globSync(['gateway/src/config.ts', 'services/*/src/**/{config,settings}.ts', 'packages/*/src/{settings,tls,kafka}.ts'], { cwd: ROOT });
  const found = new Map(
    owners.map((owner) => [addressVariable(owner), `\`host:port\` of ${owner}. With a headless Service's name, calls spread over its pods.`]),
  );
  for (const file of files.toSorted()) {
    for (const [, comment = '', name = ''] of readFileSync(join(ROOT, file), 'utf8').matchAll(/\/\*\* ([^*]+) \*\/\s+\w+: [\w.]+(?:<[^(]+>)?\(\s*'([A-Z_]+)'/g))
      found.set(name, comment);
  }
  return found;
}

/** Each variable with the components that have it. A default that differs by component is listed for each. */
function variablesOf(settings: ReadonlyMap<string, Settings>) {
  const found = new Map<string, Map<string, Variable>>();
  for (const [component, each] of settings) {
    for (const { name, fallback, expected, shown } of Object.values(each)) {
      const variable = { name, form: formOf(expected), fallback: fallback === undefined ? 'required' : valueOf(fallback.value, expected), file: !shown };
      found.set(name, (found.get(name) ?? new Map<string, Variable>()).set(component, variable));
    }
  }
  return [...found].map(([variable, by]) => {
    const defaults = Map.groupBy(by, ([, { fallback }]) => fallback);
    const [most = ['']] = [...defaults].toSorted(([, a], [, b]) => b.length - a.length);
    const fallback =
      defaults.size === 1
        ? most[0]
        : [...defaults].map(([value, of]) => (value === most[0] && of.length > 1 ? value : `${of.map(([name]) => name).join(', ')} ${value}`)).join('; ');
    const [first] = by.values();
    return { variable, of: [...by.keys()], fallback, form: first!.form, file: first!.file };
  });
}

function headingOf(of: readonly string[], all: number): string {
  if (of.length === all) return 'Every component';
  if (of.length === all - 1 && !of.includes('gateway')) return 'Every component but the gateway';
  if (owners.every((owner) => of.includes(owner)) && of.length === owners.length) return 'Every service';
  const [first = '', ...others] = of.map((name) => name.replaceAll('-', ' '));
  const text = [first, ...others].join(' and ');
  return `${text[0]!.toUpperCase()}${text.slice(1)}`;
}

function valueOf(value: unknown, expected: string): string {
  if (value === undefined || value === '' || (Array.isArray(value) && value.length === 0)) return 'none';
  if (typeof value !== 'number' || !expected.startsWith('a duration')) return `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``;
  const units = [
    ['h', 3_600_000],
    ['m', 60_000],
    ['s', 1000],
    ['ms', 1],
  ] as const;
  const [unit, size] = units.find(([, each]) => value >= each && value % each === 0) ?? units[2];
  return `\`${value / size}${unit}\``;
}

function formOf(expected: string): string {
  const values = /^one of ([\w-]+(?:, [\w-]+)*)$/.exec(expected)?.[1];
  if (values !== undefined) return `Values: ${values.replaceAll(/[\w-]+/g, '`$&`')}.`;
  if (expected.startsWith('id:key')) return 'Form: `id:key`, comma-separated, with keys of 32 random bytes in base64.';
  if (expected.startsWith('a comma-separated list')) return 'Comma-separated.';
  return '';
}

function escaped(text: string): string {
  return text.replaceAll('|', '\\|');
}
