// The descriptions themselves are compared with gateway/openapi.json, which is reviewed with every change.
import { publicEvents } from '@truckroll/contract';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Components, type Schema } from '../src/openapi/schemas.ts';
import { WEBHOOKS_TAG, describeWebhooks } from '../src/openapi/webhooks.ts';

const { tags, webhooks, components: published } = JSON.parse(readFileSync(join(import.meta.dirname, '../openapi.json'), 'utf8'));
const components = new Components(new Set(publicEvents.map(({ body }) => body)));
const described = describeWebhooks(publicEvents, components);

test('describes every type of event as published, with its body', () => {
  expect(described).toEqual(webhooks);
  expect(tags).toContainEqual(WEBHOOKS_TAG);
  for (const { body } of publicEvents) {
    const name = body.typeName.split('.').at(-1)!;
    expect([name, components.schemas[name]]).toEqual([name, published.schemas[name]]);
  }
});

test.each(publicEvents.map((event) => [event.type, event] as const))('says that the body of %s has exactly this type', (type, event) => {
  const of = described[type]?.['post'] as { operationId: string; summary: string };
  const name = event.body.typeName.split('.').at(-1)!;
  expect([of.operationId, of.summary]).toEqual([`receive${name}`, type]);
  const { properties, required } = components.schemas[name] as { properties: Record<string, Schema>; required: string[] };
  expect(properties['type']).toMatchObject({ const: type });
  expect(required).toContain('type');
});
