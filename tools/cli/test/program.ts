import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Command } from 'commander';
import type { CommandModule } from '../src/run.ts';

const commands = join(import.meta.dirname, '../src/commands');

/** The command line with all its commands, to inspect their options. None of them can be run. */
export async function wholeProgram(): Promise<Command> {
  const program = new Command('truckroll');
  for (const file of readdirSync(commands).sort()) {
    ((await import(pathToFileURL(join(commands, file)).href)) as CommandModule).register(program, undefined as never);
  }
  return program;
}
