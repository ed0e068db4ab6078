// Writes the types of @truckroll/client from gateway/openapi.json into packages/client/src/gen (ignored by git), with a generator that is a
// package of the client. Skipped if the description has not changed since the last run.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';

const root = join(import.meta.dirname, '..');
const client = join(root, 'packages/client');
const out = join(client, 'src/gen');
const description = join(root, 'gateway/openapi.json');

/** The sources, and the file made from them. */
export const clientTypeSources = [description, join(root, 'pnpm-lock.yaml'), import.meta.filename];
export const clientTypes = join(out, 'api.ts');

export async function writeClientTypes() {
  const hash = createHash('sha256');
  for (const file of clientTypeSources) hash.update(readFileSync(file));
  const stamp = `// ${hash.digest('hex')}\n`;
  const file = clientTypes;
  if (existsSync(file) && readFileSync(file, 'utf8').startsWith(stamp)) return;
  const place = dirname(createRequire(join(client, 'package.json')).resolve('openapi-typescript/package.json'));
  const { default: generate, astToString } = await import(pathToFileURL(join(place, 'dist/index.mjs')).href);
  // Fields with a default are optional in a body.
  const text = astToString(await generate(JSON.parse(readFileSync(description, 'utf8')), { defaultNonNullable: false }));
  mkdirSync(out, { recursive: true });
  writeFileSync(`${file}.${process.pid}`, stamp + text);
  renameSync(`${file}.${process.pid}`, file);
  console.error('wrote the types of @truckroll/client');
}
