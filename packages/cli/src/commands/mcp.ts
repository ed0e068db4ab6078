import { addAbortSignal } from 'node:stream';
import { serveStdio } from '@truckroll/client/mcp';
import type { Command } from 'commander';
import type { ApiSession } from '../session.ts';

export function register(program: Command, session: ApiSession): void {
  program
    .command('mcp')
    .description('Serve an assistant that speaks the Model Context Protocol, over standard input and output.')
    .action(async () => {
      const { baseUrl, credential } = session.access();
      const { stdin, signal } = session.io;
      addAbortSignal(signal, stdin);
      await serveStdio(baseUrl, credential, signal);
    });
}
