// Replays recorded transactions with pgbench: the most that the database and this machine do with these statements.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Problem } from '@truckroll/local-stack';
import type { RecordedStatement } from './recorder.ts';

export interface PgbenchLoad {
  readonly databaseUrl: string;
  /** Session settings of the service. */
  readonly settings: string;
  readonly script: Script;
  /** pgbench's `-M`. Simple, its default, sends texts that are planned each time. */
  readonly mode: 'simple' | 'prepared';
  readonly connections: number;
  readonly seconds: number;
}

export interface Script {
  readonly text: string;
  /** Values that are too long for the script. */
  readonly variables: ReadonlyMap<string, string>;
}

/** Throws Problem if pgbench is missing. */
export function pgbenchPath(): string {
  const folder = '/usr/lib/postgresql';
  const versions = existsSync(folder) ? readdirSync(folder).sort((a, b) => Number(b) - Number(a)) : [];
  const found = [...versions.map((version) => join(folder, version, 'bin/pgbench')), 'pgbench'].find((path) => spawnSync(path, ['--version']).status === 0);
  if (found === undefined)
    throw new Problem('pgbench, which runs the same statements alone, is missing: install PostgreSQL’s contributed programs (Debian: postgresql-15).');
  return found;
}

/**
 * Builds one script of several transactions. `replaced` maps a recorded value to the SQL expression that replaces it. With `pipelines`,
 * statements are sent in two pipelines, as the service does: everything up to the locks, then the rest.
 */
export function scriptOf(
  transactions: readonly (readonly RecordedStatement[])[],
  replaced: ReadonlyMap<string, string>,
  head: string,
  pipelines: boolean,
): Script {
  const variables = new Map<string, string>();
  const sql = ({ text, values }: RecordedStatement): string =>
    `${text.replace(/\$(\d+)/g, (_, n: string) => {
      const value = values[Number(n) - 1] ?? null;
      if (value === null) return 'null';
      const expression = replaced.get(value);
      if (expression !== undefined) return expression;
      const known = [...variables].find(([, other]) => other === value)?.[0] ?? `p${variables.size}`;
      variables.set(known, value);
      return `:${known}`;
    })};\n`;
  const pipeline = (statements: readonly RecordedStatement[]): string => `\\startpipeline\n${statements.map(sql).join('')}\\endpipeline\n`;
  const body = transactions.map((statements) => {
    if (!pipelines) return statements.map(sql).join('');
    const locks = statements.findLastIndex(({ name }) => name.startsWith('hold_')) + 1;
    return `${pipeline(statements.slice(0, locks))}${pipeline(statements.slice(locks))}`;
  });
  return { text: `${head}\n${body.join('')}`, variables };
}

/** Transactions per second of the script, which may contain several. Throws when one fails. */
export async function runPgbench({ databaseUrl, settings, script, mode, connections, seconds }: PgbenchLoad, folder: string): Promise<number> {
  const file = join(folder, 'writes.pgbench');
  writeFileSync(file, script.text);
  // A simple statement contains the variable's text literally.
  const written = (value: string): string => (mode === 'simple' ? `'${value.replaceAll("'", "''")}'` : value);
  const defines = [...script.variables].flatMap(([name, value]) => ['-D', `${name}=${written(value)}`]);
  const args = ['-n', '-M', mode, '-f', file, '-c', String(connections), '-j', '1', '-T', String(seconds), ...defines, databaseUrl];
  const child = spawn(pgbenchPath(), args, { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, PGOPTIONS: settings } });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  const code = await new Promise((resolve, reject) => child.once('error', reject).once('close', resolve));
  const rate = /tps = ([\d.]+)/.exec(output)?.[1];
  if (code !== 0 || rate === undefined || /aborted/.test(output)) throw new Error(`pgbench ended with ${String(code)}: ${output.slice(0, 2000)}`);
  return Number(rate);
}
