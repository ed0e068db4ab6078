import { globSync } from 'node:fs';
import { basename, join } from 'node:path';
import { Command } from 'commander';

const commands = join(import.meta.dirname, '../src/commands');

/** Makes the program as it is for these words, to inspect its options: commands declare only those of what is named. It cannot be run. */
export async function programs(): Promise<(words: readonly string[]) => Command> {
  const names = globSync('*.ts', { cwd: commands }).map((file) => basename(file, '.ts'));
  const modules = new Map(await Promise.all(names.map(async (name) => [name, await import(join(commands, `${name}.ts`))] as const)));
  return (words) => {
    const program = new Command('truckroll').option('--url <url>').option('--profile <name>').option('--csv');
    modules.get(words[0] ?? '')?.register(program, { io: {} }, words);
    return program;
  };
}
