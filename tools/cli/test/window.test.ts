// Which events from around the restored moment are published again, and which are no longer part of the data.
import { randomUUID } from 'node:crypto';
import { formatInstant, topics } from '@truckroll/contract';
import { schema as integrationsSchema } from '@truckroll/integrations/schema';
import { Outbox, append, createKafka } from '@truckroll/outbox';
import type { Database } from '@truckroll/postgres';
import { schema as schedulingSchema } from '@truckroll/scheduling/schema';
import { createMetrics, silentLog } from '@truckroll/telemetry';
import { openFreshDatabase } from '@truckroll/testing';
import { until } from '@truckroll/testing/until';
import { takeWaiting } from '../src/restored/outdated.ts';
import { readWindow } from '../src/restored/window.ts';

const SINCE = 1_772_377_200_000_000;
const company = randomUUID();
const kafka = createKafka(
  'test',
  { kafkaBrokers: (process.env['KAFKA_BROKERS'] ?? '').split(','), kafkaPrefix: `window-${randomUUID().slice(0, 8)}.` },
  silentLog,
);
let scheduling: { database: Database; close(): Promise<void> };
let integrations: { database: Database; close(): Promise<void> };
beforeAll(async () => {
  [scheduling, integrations] = await Promise.all([openFreshDatabase(schedulingSchema), openFreshDatabase(integrationsSchema)]);
}, 60_000);
afterAll(() => Promise.all([scheduling.close(), integrations.close()]));

interface Published {
  id: string;
  subject: string;
  sequence: number;
  time: number;
}

async function publish(events: readonly Published[]): Promise<void> {
  const { database } = scheduling;
  const { serviceRequests } = topics;
  await append(
    database,
    events.map(({ id, subject, sequence }) => ({
      topic: serviceRequests.name,
      key: `${company}/${subject}`,
      type: 'any',
      companyId: company,
      id,
      sequence,
      payload: null,
      people: `${subject} ${company}`,
    })),
  );
  for (const { id, time } of events) await database.query({ text: 'update outbox set created_at = $2 where event_id = $1', values: [id, formatInstant(time)] });
  const outbox = new Outbox({ database, kafka, source: '/test', topics: [serviceRequests], announces: false, log: silentLog, metrics: createMetrics('test') });
  await outbox.start();
  await until(
    'the outbox to be empty',
    () => database.query({ text: 'select from outbox' }),
    ({ rowCount }) => rowCount === 0,
  );
  await outbox.stop();
}

test('publishes again what is in the restored data from the given moment on, and lists what is not in it', async () => {
  const event = (subject: string, sequence: number, time: number): Published => ({ id: randomUUID(), subject, sequence, time });
  const [request, interaction, lost] = [randomUUID(), randomUUID(), randomUUID()];
  await scheduling.database.query({
    text: `insert into service_requests (company_id, id, event_sequence, document, fingerprint, recorded, unbooked, projection) values ($1, $2, 2, '', '', '', true, 1)`,
    values: [company, request],
  });
  await scheduling.database.query({
    text: `insert into interactions (company_id, id, event_sequence, document, recorded) values ($1, $2, 1, '', '')`,
    values: [company, interaction],
  });
  const earlier = event(request, 1, SINCE - 1);
  const first = event(request, 2, SINCE);
  const completed = event(interaction, 1, SINCE + 1);
  const undone = [event(request, 3, SINCE + 2), event(lost, 1, SINCE + 3)];
  await publish([earlier, first, completed, ...undone]);
  const window = await readWindow({
    kafka,
    scheduling: scheduling.database,
    integrations: integrations.database,
    since: SINCE,
    signal: new AbortController().signal,
    progress: () => undefined,
  });
  const ids = (of: readonly { id: string }[]): string[] => of.map(({ id }) => id).toSorted();
  expect(ids(window.repeated.map(({ published }) => published))).toEqual(ids([first, completed]));
  expect(ids(window.undone)).toEqual(ids(undone));
  expect(
    window.repeated
      .map(
        ({
          placed: {
            version,
            event: { sequence, people },
          },
        }) => [version, sequence, people],
      )
      .toSorted(),
  ).toEqual([
    [2, 2, `${request} ${company}`],
    [3, 1, `${interaction} ${company}`],
  ]);
  expect(window.newest).toBe(5);
}, 30_000);

test('takes events that were never published as they are, with the people that they name', async () => {
  const { database } = scheduling;
  const event = { topic: topics.serviceRequests.name, key: `${company}/x`, type: 'any', companyId: company, id: randomUUID(), payload: null };
  await append(database, [
    { ...event, sequence: 7, people: company },
    { ...event, id: randomUUID() },
  ]);
  const taken = (await takeWaiting(database)).map(({ event: { sequence, people } }) => ({ sequence, people }));
  expect(taken).toEqual([{ sequence: 7, people: company }, {}]);
});
