// The rate of a backlog: from the commit that puts it into scheduling's outbox until every event was answered 2xx and its attempt stored.
import { randomUUID } from 'node:crypto';
import { now, topics } from '@truckroll/contract';
import { ServiceRequestCreated } from '@truckroll/contract/gen/events/v1/public_events';
import { ServiceRequestStatus } from '@truckroll/contract/gen/scheduling/v1/service_requests';
import { append, type OutgoingEvent } from '@truckroll/outbox';
import type { Database } from '@truckroll/postgres';
import type { Endpoint } from './system.ts';
import { REQUEST } from './intake.ts';
import type { Sinks } from './sinks.ts';

const CHUNK = 1000;
/** Poll interval in ms; adds half of it to the result. */
const LOOK_MS = 20;

/** Events a second. `database` connects to the system's database, with any schema. */
export async function drainBacklog(database: Database, endpoints: readonly Endpoint[], sinks: Sinks, count: number): Promise<number> {
  sinks.take();
  const at = now();
  const events = Array.from({ length: count }, (_, i) => created((endpoints[i % endpoints.length] as Endpoint).companyId, at));
  await database.transaction(async (tx) => {
    for (let start = 0; start < count; start += CHUNK) await append(tx, events.slice(start, start + CHUNK));
  });
  const startedAt = performance.now();
  await sinks.until(count);
  while (await anyQueued(database, endpoints)) await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  return count / ((performance.now() - startedAt) / 1000);
}

async function anyQueued(database: Database, endpoints: readonly Endpoint[]): Promise<boolean> {
  const text = 'select from integrations.webhook_queue where endpoint_id = any($1::uuid[]) limit 1';
  return (await database.query({ text, values: [endpoints.map(({ id }) => id)] })).rows.length !== 0;
}

/** The event that scheduling publishes for a new service request. */
function created(company_id: string, timestamp: number): OutgoingEvent {
  const [id, subject, type] = [randomUUID(), randomUUID(), 'service_request.created'];
  const data = { id: subject, number: 'SR-204', status: ServiceRequestStatus.NEW, ...REQUEST, created_at: timestamp, updated_at: timestamp };
  const payload = ServiceRequestCreated.encode({ id, type, timestamp, company_id, sequence: 1, data }).finish();
  return { id, topic: topics.serviceRequests.name, key: `${company_id}/${subject}`, type, companyId: company_id, sequence: 1, payload };
}
