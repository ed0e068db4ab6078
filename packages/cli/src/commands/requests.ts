import type { Command } from 'commander';
import type { Kind } from '../catalog.ts';
import { KINDS } from '../gen/catalog.ts';
import type { Session } from '../session.ts';
import { completeList } from './list.ts';

export function register(program: Command, session: Session): void {
  const command = program.command('requests').description('List what API keys requested and how it was answered, newest first.');
  completeList(command, session, 'requests', KINDS['requests'] as Kind);
}
