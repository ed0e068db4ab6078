// A fault that is put in on purpose: the fence of the cell that the company has left lets a write through. The move does not look for such a write
// (docs/adr/0028), so the checks of the campaign (npm run test:move) must find that it is lost.
import { randomUUID } from 'node:crypto';
import { topics } from '@truckroll/contract';
import { AssignmentCommandServiceService } from '@truckroll/contract/gen/scheduling/v1/assignment_commands';
import { silentLog } from '@truckroll/telemetry';
import { until } from '@truckroll/testing/until';
import { createKafka, type KafkaClient } from '../../packages/outbox/src/index.ts';
import { readTopic } from '../faults/system/topic.ts';
import type { Violation } from '../faults/writes/check/violations.ts';
import { check } from '../faults/writes/checker.ts';
import type { Attempt, Write } from '../faults/writes/history.ts';
import { observe, readVisits } from '../faults/writes/observe.ts';
import type { StoredVisit } from '../faults/writes/observed.ts';
import { send } from '../faults/writes/sender.ts';
import { dispatchDesk, type DispatchDesk } from '../support/dispatch.ts';
import type { System } from '../support/system.ts';
import { writesLost } from './campaign/check.ts';
import { numberedEvents } from './campaign/topics.ts';
import { environment, rowsOf, runMove, startTwoCells, type TwoCells } from './two-cells.ts';

const MINUTES = 60_000;

let cells: TwoCells;
let here: System;
let there: System;
let desk: DispatchDesk;
let home: ReturnType<typeof withKafka>;
let west: ReturnType<typeof withKafka>;

beforeAll(async () => {
  cells = await startTwoCells('move-fence-runs');
  ({ here, there } = cells);
  desk = await dispatchDesk(here);
  [home, west] = [withKafka(here), withKafka(there)];
}, 3 * MINUTES);
afterAll(() => cells?.stop(), MINUTES);

const move = (...args: string[]) => runMove([desk.company.id, ...args], { ...environment(here, ''), ...environment(there, 'TO_') });

function withKafka({ database, channel, serviceEnvironment: env }: System) {
  const kafka: KafkaClient = createKafka('test', { kafkaBrokers: env['KAFKA_BROKERS']!.split(','), kafkaPrefix: env['KAFKA_PREFIX']! }, silentLog);
  return { database, kafka, channel: channel as (name: string) => ReturnType<System['channel']> };
}

/** What the campaign's checker finds in the other cell, and in the topics of both. */
async function violations(history: readonly Attempt[], before: readonly StoredVisit[]): Promise<Violation[]> {
  const observed = await observe(west, desk.company, before, [], (topic) =>
    topic === topics.assignments ? readTopic(west.kafka, topic) : numberedEvents({ home, west }, topic),
  );
  return [...check(history, observed).violations];
}

/** As a gateway sends it that has missed the switch. */
async function addInFirstCell(write: Write & { kind: 'add' }): Promise<Attempt> {
  const { id, timezone, userId } = desk.company;
  const [key, invokedAt] = [randomUUID(), performance.now()];
  const { data } = await here
    .channel('scheduling')
    .client(AssignmentCommandServiceService)
    .addAssignment({
      caller: { company_id: id, time_zone: timezone, user_id: userId },
      idempotency_key: key,
      expected_revision: write.expectedRevision,
      appointment_id: write.visitId,
      team_member_id: write.technicianId,
      starts_at: Date.parse('2026-03-02T15:00:00Z') * 1000,
      ends_at: Date.parse('2026-03-02T16:00:00Z') * 1000,
      allow_outside_window: false,
      customer_notification: null,
    });
  const { id: assignment } = data!.assignments.find(({ team_member: member }) => member?.id === write.technicianId)!;
  const answer = { status: 201, replayed: false, location: `/v1/job-assignments/${assignment}`, revision: data!.revision };
  return { key, write, invokedAt, endedAt: performance.now(), answer };
}

test(
  'the campaign finds a write that the fence let through after the move',
  async () => {
    const { company, technicians } = desk;
    const { id: visitId } = await desk.visit();
    const before = await readVisits(home, company);
    const write = (expectedRevision: string, technicianId: string) => ({ kind: 'add', visitId, technicianId, expectedRevision, notify: false }) as const;
    const early = await send({ baseUrl: here.baseUrl, apiKey: company.apiKey }, randomUUID(), write(before[0]!.revision, technicians[0]));
    expect(early.answer).toMatchObject({ status: 201 });
    expect(await move()).toMatchObject({ code: 0 });
    // When the other cell has published the company.
    await until(
      'nothing to be wrong',
      () => violations([early], before),
      (found) => found.length === 0,
    );
    const late = write(early.answer!.revision!, technicians[1]);
    await expect(addInFirstCell(late)).rejects.toMatchObject({ status: 503 });
    await rowsOf(here, 'create or replace function scheduling.refuse_frozen() returns trigger language plpgsql as $$ begin return null; end $$');
    const through = await addInFirstCell(late);
    await until('its event to be published', async () => (await rowsOf(here, 'select from scheduling.outbox')).length === 0);
    expect(await move('--confirm')).toMatchObject({ code: 0 });
    expect(writesLost(await violations([early, through], before))).toBeGreaterThan(0);
  },
  2 * MINUTES,
);
