// The models of the Python client: TypedDicts that datamodel-code-generator makes from the description's schemas.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inputsOf, parametersOf } from '../../scripts/client-resources.mjs';
import { run } from '../support/installed.ts';

const OPTIONS = [
  '--input-file-type=openapi',
  '--output-model-type=typing.TypedDict',
  '--target-python-version=3.10',
  '--enum-field-as-literal=all',
  '--formatters=builtin',
  '--disable-timestamp',
  '--use-schema-description',
  '--use-field-description',
  '--use-standard-collections',
  '--use-union-operator',
];

/** By format of a filter or field of a body: the name of its type, and the class of Python that it takes next to a text. */
const GIVEN: Record<string, readonly [string, string]> = { 'date-time': ['Instant', 'datetime'], date: ['Day', 'date'] };

/** The name of the model of an operation's query. */
export const queryName = (operationId: string): string => `${operationId.charAt(0).toUpperCase()}${operationId.slice(1)}Query`;

/** `bin` is the folder with the generator's command. */
export function models(description: any, bin: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'truckroll-models-'));
  try {
    const schemas = JSON.stringify({ openapi: description.openapi, info: description.info, paths: {}, components: { schemas: schemasOf(description) } });
    writeFileSync(join(folder, 'openapi.json'), schemas);
    run(folder, join(bin, 'datamodel-codegen'), '--input', 'openapi.json', '--output', 'models.py', ...OPTIONS);
    const made = readFileSync(join(folder, 'models.py'), 'utf8')
      .replace('#   filename:  openapi.json', '#   from gateway/openapi.json: see test/python/write.ts')
      .replace('\nfrom typing import', '\nfrom datetime import date, datetime\nfrom typing import');
    return Object.values(GIVEN).reduce((text, [name, type]) => text.replace(`\n${name}: TypeAlias = str\n`, `\n${name}: TypeAlias = str | ${type}\n`), made);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The schemas, with one for each query, and one for the kinds of changes. Answers may have further keys in later releases. */
function schemasOf(description: any): object {
  const { components, paths } = description;
  const { Change } = components.schemas;
  const { kind } = Change.properties;
  const schemas: Record<string, unknown> = {
    ...components.schemas,
    Instant: { type: 'string', description: 'A moment: ISO 8601 with Z or an offset, or a datetime with a time zone.' },
    Day: { type: 'string', description: 'A day: YYYY-MM-DD, or a date.' },
    ChangeKind: { type: 'string', enum: kind.enum, description: kind.description },
    Change: { ...Change, properties: { ...Change.properties, kind: { $ref: '#/components/schemas/ChangeKind', description: kind.description } } },
  };
  for (const operation of Object.values<any>(paths).flatMap((verbs) => Object.values<any>(verbs))) {
    const query = parametersOf(operation, components).filter((each: any) => each.in === 'query');
    if (query.length === 0) continue;
    schemas[queryName(operation.operationId)] = {
      type: 'object',
      description: `Filters of ${operation.operationId}.`,
      required: query.filter((each: any) => each.required).map(({ name }: any) => nameOf(name)),
      properties: Object.fromEntries(query.map(({ name, description, schema }: any) => [nameOf(name), given({ description, ...schema })])),
    };
  }
  const inputs = new Set<unknown>(inputsOf(description));
  const written = (key: string, value: unknown): unknown => {
    if (key === 'additionalProperties' && value === false) return undefined;
    return inputs.has(value) ? given(value) : value;
  };
  return JSON.parse(JSON.stringify(schemas, written)) as object;
}

function given({ type, format, ...rest }: any): object {
  const [name] = GIVEN[format] ?? [];
  if (name === undefined) return { type, format, ...rest };
  const $ref = `#/components/schemas/${name}`;
  return Array.isArray(type) ? { ...rest, anyOf: [{ $ref }, { type: 'null' }] } : { ...rest, $ref };
}

/** `from` is a word of Python. */
const nameOf = (name: string): string => (name === 'from' ? 'from_' : name);
