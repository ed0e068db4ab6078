// Writes the types and the resources of @truckroll/client from gateway/openapi.json into packages/client/src/gen (ignored by git), types with a
// generator that is a package of the client. Skipped if the description has not changed since the last run.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { camelCased, inputsOf, resourcesOf } from './client-resources.mjs';

const root = join(import.meta.dirname, '..');
const client = join(root, 'packages/client');
const out = join(client, 'src/gen');
const description = join(root, 'gateway/openapi.json');

/** The sources, and the file made from them. */
export const clientTypeSources = [description, join(root, 'pnpm-lock.yaml'), join(root, 'scripts/client-resources.mjs'), import.meta.filename];
export const clientTypes = join(out, 'api.ts');

export async function writeClientTypes() {
  const hash = createHash('sha256');
  for (const file of clientTypeSources) hash.update(readFileSync(file));
  const stamp = `// ${hash.digest('hex')}\n`;
  const file = clientTypes;
  if (existsSync(file) && readFileSync(file, 'utf8').startsWith(stamp)) return;
  const place = dirname(createRequire(join(client, 'package.json')).resolve('openapi-typescript/package.json'));
  const { default: generate, astToString, STRING, tsUnion } = await import(pathToFileURL(join(place, 'dist/index.mjs')).href);
  const { factory } = createRequire(join(place, 'package.json'))('typescript');
  const document = JSON.parse(readFileSync(description, 'utf8'));
  for (const schema of inputsOf(document)) if (schema.format === 'date-time') schema['x-instant'] = true;
  const instant = tsUnion([STRING, factory.createTypeReferenceNode('Date')]);
  // Called for each member of a type such as string | null. Fields with a default are optional in a body.
  const transform = (schema) => (schema['x-instant'] && schema.type === 'string' ? instant : undefined);
  const text = astToString(await generate(document, { defaultNonNullable: false, transform }));
  mkdirSync(out, { recursive: true });
  write(join(out, 'resources.ts'), resourceModule(resourcesOf(document)));
  write(file, stamp + text);
  console.error('wrote the types of @truckroll/client');
}

function write(file, text) {
  writeFileSync(`${file}.${process.pid}`, text);
  renameSync(`${file}.${process.pid}`, file);
}

/** A table of the operations for the program, and an interface for people. */
function resourceModule(root) {
  const helpers = ['CallOptions', 'Listing', 'QueryOf', 'RequestOf', 'ResultOf', 'WriteOptions'];
  return [
    `import type { ${helpers.join(', ')} } from '../types.ts';\n`,
    '/** The operations of the API by resource. */',
    `export interface Resources {\n${members(root, '  ')}}\n`,
    `export const operationTable = ${JSON.stringify(tableOf(root))};\n`,
  ].join('\n');
}

function members({ methods, children }, indent) {
  const lines = [...methods].map(([name, method]) => `${indent}${commentOf(method)}\n${indent}${camelCased(name)}${signatureOf(method)};\n`);
  for (const [name, child] of children) lines.push(`${indent}readonly ${camelCased(name)}: {\n${members(child, `${indent}  `)}${indent}};\n`);
  return lines.join('');
}

const commentOf = ({ operation, verb, path }) => `/** ${operation.summary}: `.concat('`', verb.toUpperCase(), ' ', path, '` */');

function signatureOf({ operation, parameters, input, required, iterates }) {
  const id = `'${operation.operationId}'`;
  const keyed = operation.parameters?.some(({ name }) => name === 'Idempotency-Key');
  const taken = { query: `QueryOf<${id}>`, body: `RequestOf<${id}>` }[input];
  const given = [
    ...parameters.map((name) => `${name}: string`),
    ...(input === undefined ? [] : [`${input}${required ? '' : '?'}: ${taken}`]),
    `options?: ${keyed ? 'WriteOptions' : 'CallOptions'}`,
  ];
  return `(${given.join(', ')}): ${iterates ? 'Listing' : 'ResultOf'}<${id}>`;
}

function tableOf({ methods, children }) {
  const words = ({ verb, path, input, iterates }) => [verb, path, ...(input === undefined ? [] : [input]), ...(iterates ? ['list'] : [])].join(' ');
  return Object.fromEntries([
    ...[...methods].map(([name, method]) => [camelCased(name), words(method)]),
    ...[...children].map(([name, child]) => [camelCased(name), tableOf(child)]),
  ]);
}
