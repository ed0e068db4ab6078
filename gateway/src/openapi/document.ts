// Builds the OpenAPI 3.1 description of all public operations from the contract.
import {
  exampleId,
  exampleRecord,
  goingText,
  isChangeRecord,
  operations as all,
  publicEvents,
  publicText,
  resources,
  sentence,
  type KeyStyle,
  type Operation,
  type Resource,
  type Shape,
} from '@truckroll/contract';
import { inputsOf, type Inputs } from '../routes/inputs.ts';
import { MOST_BODY_BYTES } from '../http/body.ts';
import { CSV_TEXT, describeCsv } from './csv.ts';
import { bodyShape, mayBeLeftOut } from '../routes/request.ts';
import { errorResponses, errorSchemas, deprecationHeaders, headerComponents, limitHeaders, reportHeaders, responseComponents } from './errors.ts';
import { overview } from './overview.ts';
import { cursorParameter, csvParameters, describeParameters } from './parameters.ts';
import { Components, spelled, type Schema } from './schemas.ts';
import { SANDBOX, WEBHOOKS_TAG, describeWebhooks } from './webhooks.ts';

export interface OpenApiDocument extends Schema {
  info: { title: string; version: string; 'x-release': string; description: string; license: Schema };
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, Schema>>;
  /** The requests that receivers get, by type of event. */
  webhooks: Record<string, Record<string, Schema>>;
  components: Record<string, Record<string, Schema>>;
}

/** The version of the description of `/v1` (api.md, Versioning). Releases do not change it. */
const DESCRIPTION_VERSION = '1.0.0';

/** Security schemes of an operation, by who may make the change. */
const SCHEMES = { any: ['ApiKey', 'UserToken'], api_key: ['ApiKey'], user_token: ['UserToken'] };

const META: Schema = {
  type: 'object',
  description: 'About the answer.',
  required: ['request_id', 'generated_at', 'timezone'],
  properties: {
    request_id: { type: 'string', description: 'Identifies the request; equal to the header X-Request-Id.', examples: [exampleId('request')] },
    generated_at: {
      type: 'string',
      format: 'date-time',
      description: 'When the answer was made; neither a snapshot nor a synchronisation token.',
      examples: ['2026-03-02T15:04:05.123456Z'],
    },
    timezone: {
      type: 'string',
      description: 'The IANA time zone in which the company counts its days, and this answer counts them.',
      examples: ['America/Chicago'],
    },
    sandbox: SANDBOX,
  },
};

const pagination = (key: string): Schema => ({
  type: 'object',
  description: 'Where the list goes on.',
  required: [key],
  properties: {
    [key]: { type: ['string', 'null'], description: 'Give it as `cursor` to read the next page; null on the last one.', examples: [null] },
  },
});

/** The complete document. `server` is the base address of the API in it. */
export function buildDocument(server = '/', operations: readonly Operation[] = all): OpenApiDocument {
  const reports = operations.filter(({ kind }) => kind === 'report').map(({ response }) => response);
  const components = new Components(new Set([...resources.map(({ record }) => record), ...publicEvents.map(({ body }) => body), ...reports.flatMap(partsOf)]));
  const paths: OpenApiDocument['paths'] = {};
  const tags = new Map<string, string>();
  for (const operation of operations) {
    const tag = tagOf(operation);
    if (!tags.has(tag)) tags.set(tag, publicText((resourceOf(operation)?.record ?? operation.response.byName.get('data')?.shape)?.doc ?? ''));
    (paths[operation.route] ??= {})[operation.verb.toLowerCase()] = describeOperation(operation, tag, components);
  }
  const webhooks = describeWebhooks(publicEvents, components);
  tags.set(WEBHOOKS_TAG.name, WEBHOOKS_TAG.description);
  // Without writes nothing can conflict, and only cursors of the change feed need a resync.
  const unused = [...(operations.some(({ verb }) => verb !== 'GET') ? [] : ['Conflict']), ...(operations.some(isOfFeed) ? [] : ['ResyncRequired'])];
  const responses = Object.fromEntries(Object.entries(responseComponents).filter(([name]) => !unused.includes(name)));
  return {
    openapi: '3.1.0',
    info: {
      title: 'Truckroll: field-service reporting and scheduling',
      version: DESCRIPTION_VERSION,
      'x-release': '1.3.0',
      description: overview,
      license: { name: 'Proprietary', identifier: 'LicenseRef-Truckroll' },
    },
    servers: [{ url: server, description: 'The address that this description came from.' }],
    tags: [...tags].map(([name, description]) => ({ name, description })).toSorted((a, b) => a.name.localeCompare(b.name)),
    paths: sorted(paths),
    webhooks,
    components: {
      schemas: sorted({
        ...components.schemas,
        Meta: META,
        Pagination: pagination('next_cursor'),
        CamelCasePagination: pagination('nextCursor'),
        ...errorSchemas,
      }),
      parameters: { cursor: cursorParameter, ...(reports.length > 0 && csvParameters) },
      headers: headerComponents,
      responses,
      securitySchemes: {
        ApiKey: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'trk_…',
          description: 'An API key of the company: reads, and the scheduling writes. Each operation names the credentials that it takes.',
        },
        UserToken: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'JWT',
          description: 'A token of a user of the company: whatever a key may do, and changes under `/api/v1`.',
        },
      },
    },
  };
}

/** The messages within an answer: its rows and their parts. */
function partsOf({ fields }: Shape): Shape[] {
  return fields.flatMap(({ shape }) => shape ?? []);
}

function describeOperation(operation: Operation, tag: string, components: Components): Schema {
  const inputs = inputsOf(operation);
  const keys: KeyStyle = operation.camelCase ? 'camel' : 'snake';
  const changes = operation.verb !== 'GET';
  const schemes = SCHEMES[operation.changedBy ?? 'any'];
  const body = bodyShape(operation, inputs);
  const [summary = operation.name] = operation.doc.split(/(?<=[.:;,]) /);
  return {
    operationId: operation.name.charAt(0).toLowerCase() + operation.name.slice(1),
    tags: [tag],
    summary: summary.replace(/[.:;,]$/, ''),
    description: [publicText(operation.doc), ...orderOf(operation), ...goingText(operation)].join(' '),
    ...(operation.deprecation && { deprecated: true, 'x-sunset': operation.deprecation.sunset }),
    parameters: describeParameters(inputs, components),
    ...(body && { requestBody: describeBody(operation, body, keys, components) }),
    security: schemes.map((scheme) => ({ [scheme]: [] })),
    responses: {
      [operation.status]: {
        description: 'Success.',
        headers: headersOf(operation, inputs),
        content: {
          'application/json': { schema: describeAnswer(operation, keys, components) },
          ...(operation.kind === 'report' ? { 'text/csv': describeCsv(operation) } : {}),
        },
      },
      ...errorResponses({ named: inputs.path.length > 0, changes, resyncs: isOfFeed(operation) }),
    },
  };
}

/** Whether the operation belongs to the change feed, whose cursors end with a restore. */
function isOfFeed({ rpc }: Operation): boolean {
  return rpc.startsWith('/truckroll.integrations.v1.ChangesService/');
}

function headersOf(operation: Operation, inputs: Inputs): Schema {
  return {
    ...limitHeaders,
    ...(operation.kind === 'report' && reportHeaders),
    ...(operation.deprecation && deprecationHeaders),
    ...(operation.status === 201 && !operation.camelCase ? { Location: { $ref: '#/components/headers/Location' } } : {}),
    ...(inputs.headers.some(({ field }) => field.format === 'idempotency_key')
      ? { 'Idempotent-Replayed': { $ref: '#/components/headers/Idempotent-Replayed' } }
      : {}),
  };
}

function describeBody(operation: Operation, shape: Shape, keys: KeyStyle, components: Components): Schema {
  return {
    required: !mayBeLeftOut(operation, shape),
    description: `A JSON object of at most ${MOST_BODY_BYTES} bytes.`,
    content: { 'application/json': { schema: components.object(shape, keys, 'body'), example: exampleRecord(shape, keys) } },
  };
}

/** The envelope, as http/envelope.ts writes it. Client generators name an operation's answer Response, so this schema is named Result. */
function describeAnswer({ name, response, camelCase }: Operation, keys: KeyStyle, components: Components): Schema {
  const properties: Record<string, Schema> = {};
  for (const field of response.fields) {
    if (field.name === 'next') properties.pagination = { $ref: `#/components/schemas/${camelCase ? 'CamelCasePagination' : 'Pagination'}` };
    else if (field.name !== 'time_zone')
      properties[spelled(field.name, keys)] = components.field(field, field.shape !== undefined && isChangeRecord(field.shape) ? 'snake' : keys);
  }
  if (!camelCase) properties.meta = { $ref: '#/components/schemas/Meta' };
  components.schemas[`${name}Result`] = { type: 'object', description: publicText(response.doc), required: Object.keys(properties), properties };
  return { $ref: `#/components/schemas/${name}Result` };
}

function orderOf(operation: Operation): string[] {
  if (operation.kind === 'report') {
    const periods = operation.request.byName.has('start_date');
    return [periods ? 'Ordered by `period_start`, then the group’s value, null last.' : 'Ordered by the group’s value, null last, then `bucket`.', CSV_TEXT];
  }
  const resource = resources.find(({ list }) => list === operation);
  if (resource === undefined) return [];
  return [resource.order === 'id' ? 'Ordered by `id`.' : 'Ordered by `created_at`, then `id`.'];
}

/** The record at whose path an operation is, also for writes. */
function resourceOf({ route }: Operation): Resource | undefined {
  return resources.find(({ list, detail }) => list.route === route || detail.route === route);
}

/** Operations are grouped by their record, or by their service's name if there is no list. */
function tagOf(operation: Operation): string {
  const resource = resourceOf(operation);
  const service =
    operation.service
      .split('.')
      .at(-1)
      ?.replace(/Service$/, '') ?? '';
  return sentence(resource?.path ?? service.replace(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase());
}

function sorted<T>(record: Record<string, T>): Record<string, T> {
  return Object.fromEntries(Object.entries(record).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
