// Writes gateway/openapi.json from the contract. With --check, fails if the committed file differs.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildDocument } from './document.ts';

const file = join(import.meta.dirname, '..', '..', 'openapi.json');
const text = `${JSON.stringify(buildDocument(), null, 2)}\n`;
if (!process.argv.includes('--check')) {
  writeFileSync(file, text);
} else if (readFileSync(file, 'utf8') !== text) {
  console.error('gateway/openapi.json differs from the contract: run `npm run openapi` and commit it');
  process.exitCode = 1;
}
