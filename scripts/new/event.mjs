// The skeleton of an internal event: its message, topic, publisher, consumer and first test. The public types are the specification's.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Refusal } from './changes.mjs';
import { camel, checkName, pascal, snake, spaced } from './names.mjs';

/** Adds the event `<name>` from one service to another. Throws Refusal. Returns what is left to do. */
export function addEvent(changes, root, name, { from, to }) {
  checkName(name);
  for (const [option, service] of Object.entries({ from, to })) {
    const known = service !== undefined && existsSync(join(root, `services/${service}/src/schema.ts`));
    if (!known) throw new Refusal(`--${option} takes a service that has a schema, such as scheduling${service === undefined ? '' : `, not ${service}`}.`);
  }
  if (from === to) throw new Refusal('an event leads to another service: --from and --to name two.');
  const consumer = `services/${to}/src/events/${name}.ts`;
  const publisher = `services/${from}/src/events/publish-${name}.ts`;
  changes.create(`proto/truckroll/events/v1/${snake(name)}.proto`, protoOf(name));
  changes.insertAfter(
    'packages/contract/src/topics.ts',
    "  reportingAudit: events('truckroll.reporting.audit'),\n",
    `  /** truckroll.events.v1.${pascal(name)} by \`<company>/<id>\`. */\n  ${camel(name)}: events('truckroll.${from}.${name}'),\n`,
  );
  changes.create(publisher, publisherOf(name));
  changes.create(consumer, consumerOf(name, consumer));
  const test = `services/${to}/test/${name}.test.ts`;
  changes.create(test, testOf(name));
  return [
    `Apply the event in ${consumer}: npm test -- ${test} fails until then.`,
    `Call ${camel(`publish-${name}`)} of ${publisher} in the transaction of the change, and give topics.${camel(name)} to the Outbox of ${from}.`,
    `Give ${camel(`${name}-subscription`)} to the Subscriber of ${to}, and the topic to the groups of its src/restored.ts.`,
    'Run npm run generate, and go on in CONTRIBUTING.md, "Add an internal event".',
  ];
}

function protoOf(name) {
  return `syntax = "proto3";

package truckroll.events.v1;

import "truckroll/options/v1/options.proto";

// A change that another service must know of.
message ${pascal(name)} {
  // The company that it concerns.
  string company_id = 1 [(truckroll.options.v1.format) = FORMAT_UUID];
  // Identifier of what has changed.
  string id = 2 [(truckroll.options.v1.format) = FORMAT_UUID];
}
`;
}

function publisherOf(name) {
  const message = pascal(name);
  return `import { topics } from '@truckroll/contract';
import { ${message} } from '@truckroll/contract/gen/events/v1/${snake(name)}';
import { append } from '@truckroll/outbox';
import type { Transaction } from '@truckroll/postgres';

/** In the transaction of the change: events of one id stay in the order of their commits. */
export async function ${camel(`publish-${name}`)}(tx: Transaction, event: ${message}): Promise<void> {
  const { company_id: companyId, id } = event;
  await append(tx, [{ topic: topics.${camel(name)}.name, key: \`\${companyId}/\${id}\`, type: '${snake(name)}', companyId, payload: ${message}.encode(event).finish() }]);
}
`;
}

function consumerOf(name, file) {
  const message = pascal(name);
  return `import { topics } from '@truckroll/contract';
import { ${message} } from '@truckroll/contract/gen/events/v1/${snake(name)}';
import type { Subscription } from '@truckroll/outbox';
import type { Transaction } from '@truckroll/postgres';

export const ${camel(`${name}-subscription`)}: Subscription = {
  topic: topics.${camel(name)},
  // Only the latest event of a key is applied. Use 'handler' where each event counts.
  deduplicate: 'version',
  apply: (tx, events) =>
    apply(
      tx,
      events.flatMap(({ payload }) => (payload === null ? [] : [${message}.decode(payload)])),
    ),
};

async function apply(_tx: Transaction, events: readonly ${message}[]): Promise<void> {
  throw new Error(\`Next: apply \${events.length} events in ${file}\`);
}
`;
}

function testOf(name) {
  const message = pascal(name);
  return `import { randomUUID } from 'node:crypto';
import { ${message} } from '@truckroll/contract/gen/events/v1/${snake(name)}';
import { openFreshDatabase } from '@truckroll/testing';
import type { IncomingEvent } from '@truckroll/outbox';
import { ${camel(`${name}-subscription`)} } from '../src/events/${name}.ts';
import { schema } from '../src/schema.ts';

test('${spaced(name)} is applied', async () => {
  const { database, close } = await openFreshDatabase(schema);
  try {
    const payload = Buffer.from(${message}.encode({ company_id: randomUUID(), id: randomUUID() }).finish());
    await database.transaction((tx) => ${camel(`${name}-subscription`)}.apply(tx, [{ payload } as IncomingEvent]));
    throw new Error('Next: hold against what the event says what its application has stored, instead of this line.');
  } finally {
    await close();
  }
});
`;
}
