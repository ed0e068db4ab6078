// The OpenAPI description as the pages read it.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A JSON Schema or another object of the description; the keys named are those that pages read. */
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
  info: { title: string; version: string; description: string };
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, Operation>>;
  webhooks: Record<string, { post: Operation }>;
  components: Record<string, Record<string, Schema>>;
}

export function readDescription(gateway: string): Description {
  return JSON.parse(readFileSync(join(gateway, 'openapi.json'), 'utf8')) as Description;
}

/** What a reference within the description stands for; other objects stand for themselves. */
export function resolve<T extends Schema>(schema: T, { components }: Description): T {
  if (schema.$ref === undefined) return schema;
  const [kind, name] = schema.$ref.split('/').slice(-2) as [string, string];
  const found = components[kind]?.[name];
  if (found === undefined) throw new Error(`the description has no ${schema.$ref}`);
  return found as T;
}

/** `Invoice` for a reference to that schema. */
export function schemaName({ $ref: ref }: Schema): string | undefined {
  return ref?.startsWith('#/components/schemas/') ? ref.split('/').at(-1) : undefined;
}

/** Every schema that this one refers to, however deep, in the order in which readers come to them. */
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
