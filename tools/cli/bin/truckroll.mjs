#!/usr/bin/env node
// `npx truckroll`, with any Node: installs, generates and starts the command line as `npm start` does. Help needs none of that.
import { existsSync } from 'node:fs';
import module from 'node:module';
import { fileURLToPath } from 'node:url';

const ASKS = new Set(['--help', '-h', '--version']);
const asked = process.argv.slice(2);
if (
  asked.length > 0 &&
  asked.every((word) => ASKS.has(word)) &&
  process.features.typescript &&
  existsSync(new URL('../node_modules/commander', import.meta.url))
) {
  // Reading TypeScript would take half of the time. If nothing can be written, Node keeps no cache.
  module.enableCompileCache(fileURLToPath(new URL('../node_modules/.cache', import.meta.url)));
  await import('../src/main.ts');
} else {
  process.argv.splice(2, 0, 'truckroll');
  await import('../../../scripts/run.mjs');
}
