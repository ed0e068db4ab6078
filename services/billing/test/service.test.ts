// A billing service with its own database, called as the command line calls it.
import { randomUUID } from 'node:crypto';
import { ImportServiceService } from '@truckroll/contract/gen/records/v1/records';
import { openChannel } from '@truckroll/grpc';
import { Database } from '@truckroll/postgres';
import { freshDatabase, testCallers, testConfig, withoutKafka } from '@truckroll/testing';
import { createBilling } from '../src/billing.ts';
import { schema } from '../src/schema.ts';
import { payment } from './records.ts';

test('publishes what it imports once: it notes nothing for the pass that publishes changes of earlier releases', async () => {
  const fresh = await freshDatabase({ [schema.schema]: schema.migrations });
  const service = createBilling({ ...testConfig, ...withoutKafka, databaseUrl: fresh.url });
  const { port } = await service.start();
  const channel = openChannel(`127.0.0.1:${port}`, { credentials: testCallers });
  const database = new Database({ url: fresh.url, schema: schema.schema, maxConnections: 1 });
  try {
    const company_id = randomUUID();
    const lines = [Buffer.from(JSON.stringify(payment({})))];
    const requests = async function* () {
      yield { company_id, path: 'payments', lines, first_line: 1 };
    };
    for await (const answer of channel.client(ImportServiceService).import(requests())) expect(answer).toMatchObject({ created: 1, problems: [] });
    // In one statement, since the pass replaces the note by an event.
    const text = `select (select count(*) from unpublished where company_id = $1) as noted,
      (select count(*) from outbox where company_id = $1 and type like 'payment%') as events`;
    expect((await database.query({ text, values: [company_id] })).rows).toEqual([{ noted: 0, events: 1 }]);
  } finally {
    channel.close();
    await database.close();
    await service.destroy();
    await fresh.drop();
  }
}, 60_000);
