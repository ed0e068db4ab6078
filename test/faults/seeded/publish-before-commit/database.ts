// The bug: events are sent to Kafka within the transaction instead of from the outbox after it, so that a failed commit publishes
// an event that never happened.
import { setTimeout as delay } from 'node:timers/promises';
import type { Transaction } from '../../../../packages/postgres/src/database.ts';
import { silentLog } from '../../../../packages/telemetry/src/log.ts';
import { createKafka } from '../../../../packages/outbox/src/kafka.ts';
import type { OutboxRow } from '../../../../packages/outbox/src/event.ts';
import { createPublisher } from '../../../../packages/outbox/src/publisher.ts';
import { rewritten } from '../rewritten.ts';

export * from '../../../../packages/postgres/src/database.ts';

const kafka = createKafka('seeded', { kafkaBrokers: process.env['KAFKA_BROKERS']!.split(',') }, silentLog);
const publisher = createPublisher(kafka, '/truckroll/scheduling');
let publishing: Promise<unknown> = Promise.resolve();
/** Delay between publishing and committing, so that some faults fall in between. */
const GAP_MS = 30;

export const Database = rewritten(() => ({ beforeCommit: publish }));

async function publish(tx: Transaction): Promise<void> {
  const { rows } = await tx.query<OutboxRow>({
    text: `delete from outbox where xmin = pg_current_xact_id()::xid
      returning id, event_id, topic, key, type, company_id, sequence, trace, request_id, payload, created_at`,
  });
  if (rows.length === 0) return;
  // One request at a time, like a single relay.
  const published = publishing.then(() => publisher.publish(rows.toSorted((a, b) => a.id - b.id)));
  publishing = published.catch(() => undefined);
  await published;
  await delay(GAP_MS);
}
