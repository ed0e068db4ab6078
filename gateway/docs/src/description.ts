// The OpenAPI description, with the keys that the pages read.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Schema {
  [key: string]: unknown;
  $ref?: string;
  type?: string | string[];
  format?: string;
  description?: string;
  required?: string[] | boolean;
  properties?: Record<string, Schema>;
  items?: Schema;
  anyOf?: Schema[];
  allOf?: Schema[];
  oneOf?: Schema[];
  enum?: unknown[];
  const?: unknown;
  default?: unknown;
  examples?: unknown[];
}

interface Media {
  schema: Schema;
  example?: unknown;
  examples?: Record<string, { value: unknown }>;
}

export interface Body {
  description?: string;
  content: Record<string, Media>;
}

export interface Operation {
  operationId: string;
  tags: string[];
  summary: string;
  description: string;
  deprecated?: boolean;
  parameters: Schema[];
  requestBody?: Body;
  security: Record<string, unknown>[];
  responses: Record<string, Schema & { content?: Record<string, Media> }>;
}

export interface Description {
  info: { title: string; version: string; 'x-release': string; description: string };
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, Operation>>;
  webhooks: Record<string, { post: Operation }>;
  components: Record<string, Record<string, Schema>>;
}

export function readDescription(gateway: string): Description {
  return JSON.parse(readFileSync(join(gateway, 'openapi.json'), 'utf8')) as Description;
}

/** The object that a reference within the description points to; any other object itself. */
export function resolve<T extends Schema>(schema: T, { components }: Description): T {
  if (schema.$ref === undefined) return schema;
  const [kind, name] = schema.$ref.split('/').slice(-2) as [string, string];
  const found = components[kind]?.[name];
  if (found === undefined) throw new Error(`the description has no ${schema.$ref}`);
  return found as T;
}

/** `Invoice` if the object is a reference to that schema. */
export function schemaName({ $ref: ref }: Schema): string | undefined {
  return ref?.startsWith('#/components/schemas/') ? ref.split('/').at(-1) : undefined;
}

/** The names of all schemas that this one refers to, at any depth, in the order in which they appear. */
export function namesWithin(value: unknown, description: Description, found = new Set<string>()): Set<string> {
  if (typeof value !== 'object' || value === null) return found;
  const name = schemaName(value as Schema);
  if (name !== undefined && !found.has(name)) {
    found.add(name);
    namesWithin(description.components['schemas']?.[name], description, found);
  }
  for (const part of Object.values(value)) namesWithin(part, description, found);
  return found;
}
