import { exampleOf, goingText, publicText, type Parameter } from '@truckroll/contract';
import { isRequired, mostValues, type HeaderInput, type Inputs, type PathInput } from '../routes/inputs.ts';
import { CSV_PARAMETERS, type CsvParameter } from '../http/csv.ts';
import { DEFAULT_LIMIT } from '../routes/query.ts';
import { scalar, type Components, type Schema } from './schemas.ts';

export function describeParameters({ path, query, headers, pages, csv }: Inputs, components: Components): Schema[] {
  return [
    ...path.map((input) => describePath(input, components)),
    ...query.map((parameter) => describeQuery(parameter, components)),
    ...(pages ? [{ $ref: '#/components/parameters/cursor' }] : []),
    ...(csv ? Object.keys(CSV_PARAMETERS).map((name) => ({ $ref: `#/components/parameters/${name}` })) : []),
    ...headers.map(describeHeader),
  ];
}

export const cursorParameter: Schema = {
  name: 'cursor',
  in: 'query',
  required: false,
  description:
    'Where to go on: `pagination.next_cursor` (`nextCursor` under `/api/v1`) of the previous page, unchanged, with the same filters. The page size may change.',
  schema: { type: 'string', minLength: 1 },
};

/** By their names. */
export const csvParameters: Record<CsvParameter, Schema> = {
  amounts: {
    name: 'amounts',
    in: 'query',
    required: false,
    description:
      'How CSV writes amounts of money: `cents` as integers, or `decimal` as dollars, such as `-1234.05`, in columns whose names lack `_cents`. Only with `Accept: text/csv`.',
    schema: { type: 'string', enum: CSV_PARAMETERS.amounts, default: CSV_PARAMETERS.amounts[0] },
  },
  bom: {
    name: 'bom',
    in: 'query',
    required: false,
    description: 'Whether CSV begins with a byte order mark (EF BB BF), without which Excel does not know that it is UTF-8. Only with `Accept: text/csv`.',
    schema: { type: 'boolean', default: false },
  },
};

function describePath({ name, field }: PathInput, components: Components): Schema {
  const schema = field.enum === undefined ? scalar(field) : components.field({ ...field, doc: '' }, 'snake');
  return { name, in: 'path', required: true, description: publicText(field.doc), schema, example: exampleOf(field, 'snake') };
}

function describeQuery(parameter: Parameter, components: Components): Schema {
  const { name, field } = parameter;
  const isLimit = parameter.within === 'collection' && name === 'limit';
  // An empty value is rejected (api.md, policy of all collection reads).
  const single = { ...field, nullable: false, doc: '', derived: false, range: { minLength: 1, ...field.range } };
  const value = field.enum === undefined ? scalar(single) : components.field({ ...single, repeated: false }, 'snake');
  const most = field.repeated ? mostValues(parameter) : undefined;
  const list = { type: 'array', items: value, minItems: 1, maxItems: most };
  const preset = isLimit ? { default: DEFAULT_LIMIT } : presetOf(parameter);
  const schema = { ...(field.repeated ? list : value), ...preset };
  return {
    name,
    in: 'query',
    required: isRequired(parameter),
    description: describe(parameter),
    ...(field.deprecation && { deprecated: true, 'x-sunset': field.deprecation.sunset }),
    ...(field.repeated ? { style: 'form', explode: true } : {}),
    schema,
    ...(field.example === undefined ? {} : { example: field.repeated ? [field.example] : field.example }),
  };
}

/** The value of a parameter that the client leaves out. */
function presetOf({ field }: Parameter): Schema {
  if (field.defaults === undefined) return {};
  if (field.kind === 'boolean') return { default: field.defaults[0] === 'true' };
  return { default: field.repeated ? field.defaults : field.defaults[0] };
}

function describe({ field, name }: Parameter): string {
  const hints = [publicText(field.doc)];
  if (field.repeated) hints.push(`Repeat it for several values, \`${name}=A&${name}=B\`; any of them matches.`);
  if (field.kind === 'timestamp') hints.push('Date and time with seconds and `Z` or an offset; write the `+` of an offset as `%2B`.');
  return [...hints, ...goingText(field)].join(' ');
}

function describeHeader({ header, field }: HeaderInput): Schema {
  return { name: header, in: 'header', required: !field.nullable, description: publicText(field.doc), schema: scalar(field) };
}
