// An operation as both forms of its page, HTML and Markdown, show it.
import { resolve, schemaName, type Description, type Operation, type Schema } from './description.ts';
import { errorExample } from './errors.ts';
import { bodyExample, exampleOf } from './examples.ts';
import { samplesOf } from './samples.ts';
import type { AnswerView, ErrorExample, OperationView, Row, WebhookView } from './views.ts';

const FIRST_PAGE = 'limit=2';

export function operationView(path: string, verb: string, operation: Operation, description: Description): OperationView {
  const parameters = operation.parameters.map((parameter) => resolve(parameter, description));
  const pathIds = parameters
    .filter((parameter) => parameter.in === 'path')
    .map(({ name, example, schema }) => ({
      name: String(name),
      example: String(example),
      uuid: (schema as Schema).format === 'uuid',
    }));
  const media = operation.requestBody?.content['application/json'];
  const schema = media && resolve(media.schema, description);
  const changes = verb !== 'get';
  const view: OperationView = {
    id: operation.operationId,
    summary: operation.summary,
    description: operation.description,
    deprecated: operation.deprecated === true,
    verb: verb.toUpperCase(),
    path,
    target: targetOf(path, parameters),
    credential: credentialOf(operation),
    limit: limitOf(path, changes),
    idempotent: parameters.some(({ name }) => name === 'Idempotency-Key'),
    parameters: parameters.map(parameterRow),
    pathIds,
    missing: missingOf(path, operation),
    ...(schema &&
      operation.requestBody && {
        body: {
          description: operation.requestBody.description ?? '',
          schema: media.schema,
          rows: propertyRows(schema, true),
          example: bodyExample(operation.requestBody, description),
        },
      }),
    answers: [],
    samples: [],
  };
  view.samples = samplesOf(view);
  const record = recordOf(operation, description);
  if (record !== undefined) view.record = record;
  const trial = trialOf(view, description);
  if (trial !== undefined) view.trial = trial;
  view.answers = answersOf(operation, description).map((answer) => {
    const error = Number(answer.status) >= 400 ? errorExample(answer.status, view) : undefined;
    return error === undefined ? answer : { ...answer, error, example: errorBody(error, description) };
  });
  return view;
}

/** The schema of `data`, or of its items. */
function recordOf({ responses }: Operation, description: Description): string | undefined {
  const success = Object.entries(responses).find(([status]) => status.startsWith('2'))?.[1];
  const schema = success && resolve(success, description).content?.['application/json']?.schema;
  const data = schema && resolve(schema, description).properties?.['data'];
  return data && schemaName(data.items ?? data);
}

/** Undefined for an operation with ids that no list has. */
function trialOf({ verb, credential, path, target, pathIds }: OperationView, { paths }: Description): OperationView['trial'] {
  if (verb !== 'GET' || credential === 'token') return undefined;
  if (pathIds.length === 0) return { path: target };
  const list = path.replace(/\/\{id\}$/, '');
  return pathIds.length === 1 && list !== path && paths[list]?.['get'] !== undefined ? { path: target, list } : undefined;
}

function limitOf(path: string, changes: boolean): OperationView['limit'] {
  if (path === '/api/v1/integrations/changes') return 'changes';
  if (path === '/api/v1/integrations/changes/digest') return 'digests';
  return path.startsWith('/v1/reports/') ? 'reports' : changes ? 'writes' : 'reads';
}

export function webhookView(operation: Operation, description: Description): WebhookView {
  const schema = resolve(operation.requestBody?.content['application/json']?.schema as Schema, description);
  return {
    id: operation.operationId,
    type: operation.summary,
    description: operation.description,
    headers: operation.parameters.map((parameter) => parameterRow(resolve(parameter, description))),
    body: propertyRows(schema),
    example: exampleOf(schema, description),
    answers: answersOf(operation, description).toSorted((a, b) => (a.status < b.status ? -1 : 1)),
  };
}

/** The fields of an object. In a body, each field says whether it is required. */
export function propertyRows(schema: Schema, ofBody = false): Row[] {
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  return Object.entries(schema.properties ?? {}).map(([name, property]) => {
    const note = ofBody ? (required.has(name) ? 'required' : 'optional') : property['readOnly'] === true ? 'derived' : '';
    return { name, schema: property, description: property.description ?? '', ...(note === '' ? {} : { note }) };
  });
}

function parameterRow(parameter: Schema): Row {
  const place = parameter['in'] === 'query' ? [] : [String(parameter['in'])];
  const note = [...place, ...(parameter.required === true ? ['required'] : [])].join(', ');
  return { name: String(parameter['name']), schema: parameter['schema'] as Schema, description: parameter.description ?? '', ...(note === '' ? {} : { note }) };
}

function targetOf(path: string, parameters: readonly Schema[]): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => String(parameters.find((each) => each['name'] === name)?.['example']));
  const required = parameters
    .filter((each) => each['in'] === 'query' && each.required === true)
    .map((each) => `${String(each['name'])}=${String(each['example'])}`);
  const query = [...required, ...(parameters.some(({ name }) => name === 'limit') ? [FIRST_PAGE] : [])].join('&');
  return query === '' ? filled : `${filled}?${query}`;
}

function credentialOf({ security }: Operation): OperationView['credential'] {
  const names = security.flatMap((scheme) => Object.keys(scheme));
  return names.length > 1 ? 'either' : names[0] === 'UserToken' ? 'token' : 'key';
}

function missingOf(path: string, { operationId }: Operation): string {
  if (operationId === 'removeAssignment') return 'assignment';
  if (path.includes('/api-keys/')) return 'API key';
  if (path.includes('/notifications/')) return 'notification';
  return path.includes('/webhooks/') ? 'webhook endpoint' : 'record';
}

function answersOf({ responses }: Operation, description: Description): AnswerView[] {
  return Object.entries(responses).map(([status, given]) => {
    const { description: text = '', content } = resolve(given, description);
    const schema = content?.['application/json']?.schema;
    return { status, description: text, ...(schema && { schema, example: exampleOf(schema, description) }) };
  });
}

function errorBody({ code, message, details }: ErrorExample, description: Description): unknown {
  const error = description.components['schemas']?.['ErrorResponse'];
  const { request_id } = (exampleOf(error ?? {}, description) as { error: Record<string, unknown> }).error;
  return { error: { code, message, request_id, details } };
}
