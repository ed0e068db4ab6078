// The public events as they arrive on Kafka: whole, once, and in the order of each subject (decisions §6).
import { randomBytes, randomUUID } from 'node:crypto';
import { topics } from '@truckroll/contract';
import { ServiceRequestStatusChanged } from '@truckroll/contract/gen/events/v1/public_events';
import { AssignmentCommandServiceService } from '@truckroll/contract/gen/scheduling/v1/assignment_commands';
import { IntakeServiceService } from '@truckroll/contract/gen/scheduling/v1/intake';
import type { Visit } from '@truckroll/contract/gen/scheduling/v1/job_appointments';
import { ServiceRequestChannel, ServiceRequestStatus as Status } from '@truckroll/contract/gen/scheduling/v1/service_requests';
import { createKafka, ensureTopics } from '@truckroll/outbox';
import { retrying } from '@truckroll/process';
import { silentLog } from '@truckroll/telemetry';
import { startHarness, type Company, type Harness } from './harness.ts';
import * as line from './records.ts';

const REQUESTS = 12;
const STORY = [
  'created',
  'status_changed CONTACTED',
  'status_changed BOOKED',
  'booked',
  'status_changed SCHEDULED',
  'status_changed BOOKED',
  'status_changed SCHEDULED',
  'status_changed COMPLETED',
];
const kafkaBrokers = (process.env['KAFKA_BROKERS'] ?? '').split(',');
const kafkaPrefix = `${randomBytes(4).toString('hex')}.`;
const kafka = createKafka('test', { kafkaBrokers, kafkaPrefix }, silentLog);
const groupId = `${kafkaPrefix}test`;
const consumer = kafka.consumer({ groupId });
const member = line.teamMember();
let harness: Harness;
let company: Company;

/** Waits until Kafka has chosen a coordinator for the group. A consumer of kafkajs that finds none, soon after the start of Kafka, ends for good. */
async function coordinated(): Promise<void> {
  const admin = kafka.admin();
  await admin.connect();
  await retrying(
    () => admin.fetchOffsets({ groupId }),
    () => true,
    AbortSignal.timeout(60_000),
  );
  await admin.disconnect();
}

beforeAll(async () => {
  await coordinated();
  await ensureTopics(kafka, [topics.serviceRequests], silentLog, AbortSignal.timeout(60_000));
  harness = await startHarness({ kafkaBrokers, kafkaPrefix });
  company = harness.company();
  await company.store('team-members', member);
}, 90_000);
afterAll(async () => {
  await consumer.disconnect();
  await harness.stop();
});

async function play(id: string): Promise<void> {
  const intake = harness.channel.client(IntakeServiceService);
  const commands = harness.channel.client(AssignmentCommandServiceService);
  const record = line.visit();
  await company.store('job-appointments', record);
  let visit = (await company.detail('job-appointments', record['id'])) as Visit;
  const of = { company_id: company.id, id };
  const caller = () => ({
    caller: { company_id: company.id, time_zone: 'America/Chicago', user_id: member['id'] },
    idempotency_key: randomUUID(),
    expected_revision: visit.revision,
    customer_notification: null,
  });
  const add = async () => {
    const times = { starts_at: visit.window_start_at, ends_at: visit.window_end_at, allow_outside_window: false };
    visit = (await commands.addAssignment({ ...caller(), appointment_id: visit.id, team_member_id: member['id'], ...times })).data as Visit;
  };
  await intake.recordServiceRequest({ ...of, channel: ServiceRequestChannel.PHONE });
  await intake.changeServiceRequestStatus({ ...of, status: Status.CONTACTED });
  await intake.bookServiceRequest({ ...of, job_id: record['job_id'], appointment_id: record['id'] });
  await add();
  visit = (await commands.removeAssignment({ ...caller(), id: visit.assignments[0]!.id })).data as Visit;
  await add();
  await intake.changeServiceRequestStatus({ ...of, status: Status.COMPLETED });
}

test('publishes events with CloudEvents headers, keyed by subject, in the order of their sequence', async () => {
  const ids = Array.from({ length: REQUESTS }, () => randomUUID());
  const arrived = new Map<string, { id: string; sequence: number; what: string }[]>(ids.map((id) => [`${company.id}/${id}`, []]));
  let missing = REQUESTS * STORY.length;
  await consumer.connect();
  await consumer.subscribe({ topic: kafkaPrefix + topics.serviceRequests.name, fromBeginning: true });
  const all = new Promise<void>((resolve, reject) => {
    consumer.on(consumer.events.CRASH, ({ payload: { error, restart } }) => {
      if (!restart) reject(error);
    });
    consumer
      .run({
        async eachMessage({ message }) {
          const header = (name: string): string => String(message.headers?.[name]);
          const body = ServiceRequestStatusChanged.decode(message.value as Buffer);
          const what =
            header('ce_type').replace('service_request.', '') +
            (header('ce_type').endsWith('changed') ? ` ${body.data?.status.replace('SERVICE_REQUEST_STATUS_', '')}` : '');
          expect([body.id, body.type, String(body.sequence), body.company_id]).toEqual(['ce_id', 'ce_type', 'ce_sequence', 'ce_companyid'].map(header));
          arrived.get(String(message.key))!.push({ id: body.id, sequence: body.sequence, what });
          if (--missing === 0) resolve();
        },
      })
      .catch(reject);
  });
  await Promise.all([all, ...ids.map(play)]);
  for (const events of arrived.values()) {
    expect(events.map(({ what }) => what)).toEqual(STORY);
    expect(events.map(({ sequence }) => sequence)).toEqual(STORY.map((_, i) => i + 1));
  }
  expect(new Set([...arrived.values()].flat().map(({ id }) => id)).size).toBe(REQUESTS * STORY.length);
});
