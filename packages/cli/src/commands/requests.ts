import type { Command } from 'commander';
import type { ListedKind } from '../catalog.ts';
import { KINDS } from '../gen/catalog.ts';
import type { ApiSession } from '../session.ts';
import { completeList } from './list.ts';

export function register(program: Command, session: ApiSession): void {
  const command = program.command('requests').description('List what API keys requested and how it was answered, newest first.');
  completeList(command, session, 'requests', KINDS['requests'] as ListedKind);
}
