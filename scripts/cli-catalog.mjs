// Writes what the integrators' command line knows of the API, its kinds of record, reports, filters and fields, from gateway/openapi.json into
// packages/cli/src/gen (ignored by git). Skipped if the description has not changed since the last run.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parametersOf } from './client-resources.mjs';

const root = join(import.meta.dirname, '..');
const description = join(root, 'gateway/openapi.json');
/** Fields of objects within objects are listed to this depth: `job.account.name`. */
const DEPTH = 3;

export const cliCatalog = join(root, 'packages/cli/src/gen/catalog.ts');
export const cliCatalogSources = [description, join(root, 'scripts/client-resources.mjs'), import.meta.filename];

export function writeCliCatalog() {
  const hash = createHash('sha256');
  for (const file of cliCatalogSources) hash.update(readFileSync(file));
  const stamp = `// ${hash.digest('hex')}\n`;
  if (existsSync(cliCatalog) && readFileSync(cliCatalog, 'utf8').startsWith(stamp)) return;
  const { kinds, reports, changeKinds } = catalogOf(JSON.parse(readFileSync(description, 'utf8')));
  mkdirSync(dirname(cliCatalog), { recursive: true });
  const text = [
    `${stamp}import type { ListedKind, Report } from '../catalog.ts';\n`,
    `export const KINDS: Readonly<Record<string, ListedKind>> = ${JSON.stringify(kinds)};\n`,
    `export const REPORTS: Readonly<Record<string, Report>> = ${JSON.stringify(reports)};\n`,
    `export const CHANGE_KINDS: readonly string[] = ${JSON.stringify(changeKinds)};\n`,
  ].join('\n');
  writeFileSync(`${cliCatalog}.${process.pid}`, text);
  renameSync(`${cliCatalog}.${process.pid}`, cliCatalog);
  console.error('wrote the catalog of the command line');
}

function catalogOf({ paths, components }) {
  const resolved = (schema) => (schema.$ref === undefined ? schema : resolved(components.schemas[schema.$ref.split('/').at(-1)]));
  const present = (schema) => resolved((schema.anyOf ?? schema.oneOf)?.find(({ type }) => type !== 'null') ?? schema);
  const answerOf = ({ responses }) => resolved(responses['200'].content['application/json'].schema).properties.data;
  const options = (operation) =>
    parametersOf(operation, components)
      .filter((each) => each.in === 'query' && !['cursor', 'limit', 'amounts', 'bom'].includes(each.name))
      .map(optionOf);

  const isPaged = (operation) => parametersOf(operation, components).some(({ name }) => name === 'cursor');

  function optionOf({ name, description: about = '', required, schema }) {
    const type = present(schema);
    const values = present(type.items ?? type);
    return {
      name,
      about: about.replace(/ Repeat it for several values.*/, '').replace(/; write the `\+` of an offset.*/, '.'),
      ...(values.enum !== undefined && { values: values.enum }),
      ...(values.type === 'boolean' && { values: ['true', 'false'] }),
      ...(type.type === 'array' && { many: true }),
      ...(required && { required }),
    };
  }

  function fieldsOf(schema, depth = 1) {
    return Object.entries(schema.properties ?? {}).flatMap(([name, each]) => {
      const field = present(each);
      if (field.properties === undefined || depth === DEPTH) return [name];
      return fieldsOf(field, depth + 1).map((below) => `${name}.${below}`);
    });
  }

  const kinds = {};
  const reports = {};
  for (const [path, { get }] of Object.entries(paths)) {
    if (get === undefined) continue;
    const words = path.split('/');
    if (path.startsWith('/v1/reports/')) reports[words.at(-1)] = { path, about: get.summary, options: options(get) };
    const [named, id] = words.at(-1).startsWith('{') ? [words.at(-2), true] : [words.at(-1), false];
    // Deliveries of one endpoint, the feed and actions of a record are no kinds.
    if (!/^\/(api\/v1\/integrations|v1)\/[^/]+(\/\{\w+\})?$/.test(path) || named === 'changes') continue;
    const listed = !id && get.operationId.startsWith('list');
    const item = resolved(listed ? answerOf(get).items : answerOf(get));
    const about = { about: get.summary, fields: fieldsOf(item) };
    kinds[named] = listed ? { ...kinds[named], ...about, list: path, paged: isPaged(get), options: options(get) } : { ...about, ...kinds[named], get: path };
  }
  return { kinds, reports, changeKinds: components.schemas.Change.properties.kind.enum };
}
