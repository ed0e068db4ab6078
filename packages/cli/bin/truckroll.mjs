#!/usr/bin/env node
// Starts the command line; an older Node on the PATH is replaced by the one that the workspace brings.
import { spawn } from 'node:child_process';
import { join } from 'node:path';

const main = join(import.meta.dirname, '../src/main.ts');
if (Number(process.versions.node.split('.')[0]) >= 24) {
  await import(main);
} else {
  const run = join(import.meta.dirname, '../../../scripts/run.mjs');
  const child = spawn(process.execPath, [run, 'truckroll', ...process.argv.slice(2)], { stdio: 'inherit' });
  // Ctrl-C reaches the child by itself; it decides when to end.
  process.on('SIGINT', () => undefined);
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  child.on('exit', (code, signal) => process.exit(signal === null ? (code ?? 1) : 130));
}
