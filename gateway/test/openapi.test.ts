import { operations, publicEvents, resources } from '@truckroll/contract';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildDocument } from '../src/openapi/document.ts';
import { eventViolations } from '../../test/support/openapi.ts';

const document = buildDocument();
const gateway = join(import.meta.dirname, '..');

/** Every object in the document. */
function* objects(value: unknown): Generator<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) yield value as Record<string, unknown>;
  for (const part of Object.values(value)) yield* objects(part);
}

describe('the description', () => {
  test('matches the committed file', () => {
    expect(JSON.parse(readFileSync(join(gateway, 'openapi.json'), 'utf8'))).toEqual(JSON.parse(JSON.stringify(document)));
  });

  test('is valid OpenAPI 3.1 by the recommended rules', () => {
    execFileSync(join(gateway, 'node_modules/.bin/redocly'), ['lint', '--extends', 'recommended', '--max-problems', '0', 'openapi.json'], {
      cwd: gateway,
      env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
      stdio: 'pipe',
    });
  }, 30_000);

  test('has every operation once, with every error that it can give', () => {
    for (const { route, verb, name } of operations) {
      const described = document.paths[route]?.[verb.toLowerCase()] as { operationId: string; responses: object };
      expect(described.operationId.toLowerCase()).toBe(name.toLowerCase());
      expect(Object.keys(described.responses)[0]).toMatch(/^20\d$/);
      expect(Object.keys(described.responses)).toEqual(expect.arrayContaining(['400', '401', '429', '500', '503']));
      expect(Object.keys(described.responses).includes('404')).toBe(route.includes('{') || verb !== 'GET');
      expect(Object.keys(described.responses).includes('410')).toBe(route.startsWith('/api/v1/integrations/changes'));
    }
  });

  test('has every type of event as a webhook, with a valid example', () => {
    expect(Object.keys(document.webhooks)).toEqual(publicEvents.map(({ type }) => type));
    for (const { type, body } of publicEvents) {
      const { responses, parameters } = document.webhooks[type]!['post'] as { responses: object; parameters: { name: string }[] };
      expect(Object.keys(responses)).toEqual(expect.arrayContaining(['2XX', '410', '429']));
      expect(parameters.map(({ name }) => name)).toEqual(['webhook-id', 'webhook-timestamp', 'webhook-signature']);
      const schema = document.components['schemas']?.[body.typeName.split('.').at(-1) as string];
      const [example] = schema!['examples'] as [Record<string, unknown>];
      expect([type, eventViolations(type, example)]).toEqual([type, []]);
      expect(eventViolations(type, { ...example, type: 'another.type' })).not.toEqual([]);
    }
  });

  test('allows no empty query parameter, as no operation does', () => {
    for (const parameter of objects(document.paths)) {
      if (parameter['in'] !== 'query') continue;
      const schema = parameter['schema'] as { items?: Record<string, unknown> } & Record<string, unknown>;
      const { type, format, minLength } = schema.items ?? schema;
      if (type === 'string' && format === undefined) expect([parameter['name'], Number(minLength) >= 1]).toEqual([parameter['name'], true]);
    }
  });

  test('has no broken reference', () => {
    for (const { $ref: ref } of objects(document)) {
      if (typeof ref !== 'string') continue;
      const [, kind, group, name] = ref.split('/') as [string, 'components', string, string];
      expect(document[kind][group]?.[name]).toBeDefined();
    }
  });

  test('explains every field of every record and every value of every enum', () => {
    for (const { record } of resources) {
      for (const field of record.fields) expect(`${record.typeName}.${field.name}: ${field.doc}`).toMatch(/: \S/);
    }
  });

  test('does not mention internal documents', () => {
    expect(JSON.stringify(document)).not.toMatch(/api\.md|decisions|truckroll\.\w+\.v1/);
  });
});
