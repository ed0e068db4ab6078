import { globSync } from 'node:fs';
import { basename, join } from 'node:path';
import { Command } from 'commander';

const commands = join(import.meta.dirname, '../src/commands');

/** Makes a program whose options can be inspected, but which cannot be run. It depends on the words, because commands declare options only for what is named. */
export async function programs(): Promise<(words: readonly string[]) => Command> {
  const names = globSync('*.ts', { cwd: commands }).map((file) => basename(file, '.ts'));
  const modules = new Map(await Promise.all(names.map(async (name) => [name, await import(join(commands, `${name}.ts`))] as const)));
  return (words) => {
    const program = new Command('truckroll').option('--url <url>').option('--profile <name>').option('--csv');
    modules.get(words[0] ?? '')?.register(program, { io: {} }, words);
    return program;
  };
}
