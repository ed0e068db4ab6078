// The bug: events go to Kafka within the transaction instead of into the outbox, so that a transaction which does not
// come to its end has told of what never happened.
import { setTimeout as delay } from 'node:timers/promises';
import type { Transaction } from '../../../../packages/service-kit/src/database.ts';
import { silentLog } from '../../../../packages/service-kit/src/log.ts';
import { createKafka } from '../../../../packages/outbox/src/kafka.ts';
import type { OutboxRow } from '../../../../packages/outbox/src/event.ts';
import { createPublisher } from '../../../../packages/outbox/src/publisher.ts';
import { nothing, rewritten } from '../rewritten.ts';

export * from '../../../../packages/service-kit/src/database.ts';

const kafka = createKafka('seeded', { kafkaBrokers: process.env['KAFKA_BROKERS']!.split(',') }, silentLog);
const publisher = createPublisher(kafka, '/truckroll/scheduling');
let publishing: Promise<unknown> = Promise.resolve();
/** Between what is told and what is done, so that some fault falls in between. */
const GAP_MS = 30;

export const Database = rewritten(() => (statement, tx) => (statement.name === 'outbox_append' ? publish(statement.values ?? [], tx) : undefined));

async function publish(columns: readonly unknown[], tx: Transaction): Promise<typeof nothing> {
  const rows = await rowsOf(columns as unknown[][], tx);
  // One request at a time, as one relay would.
  const published = publishing.then(() => publisher.publish(rows));
  publishing = published.catch(() => undefined);
  await published;
  await delay(GAP_MS);
  return nothing;
}

/** What the statement would have stored: a column each, and the trace. */
async function rowsOf(columns: readonly unknown[][], tx: Transaction): Promise<OutboxRow[]> {
  const [ids, topics, keys, types, companies, sequences, payloads] = columns as [string[], string[], string[], string[], string[], (number | null)[], (Buffer | null)[]];
  const { rows } = await tx.query<{ id: number }>({ text: `select nextval(pg_get_serial_sequence('outbox', 'id')) as id from generate_series(1, ${ids.length})` });
  return ids.map((event_id, i) => ({
    id: rows[i]!.id, event_id, topic: topics[i]!, key: keys[i]!, type: types[i]!, company_id: companies[i]!, sequence: sequences[i] ?? null,
    trace: null, payload: payloads[i] ?? null, created_at: Date.now() * 1000,
  }));
}
