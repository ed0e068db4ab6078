// Edges of the two writes: technicians with several assignments, contention, expired keys in bulk, and job classes.
import { randomUUID } from 'node:crypto';
import type { CallContext } from '@truckroll/grpc';
import { NameCache, RecordReader } from '@truckroll/record-store';
import { createLog, silentLog } from '@truckroll/telemetry';
import { until } from '@truckroll/testing/until';
import { addAssignment } from '../src/assignments/add.ts';
import { purgeKeys } from '../src/assignments/idempotency.ts';
import { keyPurge } from '../src/assignments/purge.ts';
import { jobAppointments } from '../src/resources/job-appointments.ts';
import { crewOf, type Crew } from './crew.ts';
import { startHarness, type Harness } from './harness.ts';
import * as line from './records.ts';

let harness: Harness;
let crew: Crew;
beforeAll(async () => void (crew = await crewOf((harness = await startHarness()))), 60_000);
afterAll(() => harness.stop());

const found = async (path: string, memberId: string): Promise<string[]> => (await crew.company.list(path, { team_member_id: [memberId] })).map(({ id }) => id);

test('a write wakes the relay, and its repetition does not', async () => {
  const { database } = harness;
  let pokes = 0;
  const services = {
    database,
    reader: new RecordReader(jobAppointments, { database, names: new NameCache(database, 'scheduling', silentLog) }),
    poke: () => void (pokes += 1),
  };
  const visit = await crew.visit();
  const request = crew.addition(visit);
  const context = { sendMetadata: () => undefined } as unknown as CallContext;
  const first = await addAssignment(services, request, context);
  expect(pokes).toBe(1);
  expect(await addAssignment(services, request, context)).toEqual(first);
  expect(pokes).toBe(1);
});

describe('a removal', () => {
  test('keeps the technician on the visit while a canceled assignment of the same technician stays', async () => {
    const visit = await crew.visit();
    const [memberId] = crew.memberIds;
    await crew.company.store('job-assignments', line.assignment({ appointment_id: visit.id, team_member: line.ref(memberId), status: 'CANCELED' }));
    const added = await crew.add(await crew.company.detail('job-appointments', visit.id));
    await crew.remove(
      added,
      added.assignments.findIndex(({ status }) => status === 'ASSIGNMENT_STATUS_TO_DO'),
    );
    expect(await found('job-appointments', memberId)).toContain(visit.id);
  });

  test('takes the technician off visit and job although another technician stays, and although the technician is on another job', async () => {
    const [job, other] = [await crew.job(), await crew.job()];
    await crew.add(await crew.visit(other['id']));
    const both = await crew.add(await crew.add(await crew.visit(job['id'])), crew.memberIds[1]);
    await crew.remove(
      both,
      both.assignments.findIndex(({ team_member }) => team_member?.id === crew.memberIds[0]),
    );
    expect(await found('job-appointments', crew.memberIds[0])).not.toContain(both.id);
    expect(await found('jobs', crew.memberIds[0])).not.toContain(job['id']);
    expect(await found('jobs', crew.memberIds[0])).toContain(other['id']);
    expect(await found('jobs', crew.memberIds[1])).toContain(job['id']);
  });
});

test('asks to send a write again that another transaction made fail twice, and stores nothing of it', async () => {
  const visit = await crew.visit();
  await harness.database.query({
    text: `create function contend() returns trigger language plpgsql as $$ begin raise exception 'no' using errcode = '40P01'; end $$`,
  });
  await harness.database.query({ text: 'create trigger contends before insert on job_assignments for each row execute function contend()' });
  try {
    await expect(crew.add(visit)).rejects.toMatchObject({ status: 503, retryAfterSeconds: 1 });
  } finally {
    await harness.database.query({ text: 'drop trigger contends on job_assignments' });
  }
  expect((await crew.add(visit)).assignments).toHaveLength(1);
});

describe('expired idempotency keys', () => {
  const expired = (count: number) =>
    harness.database.query({
      text: `insert into idempotency_keys (company_id, user_id, key, fingerprint, created_at)
        select $1, $1, 'key-' || n, '', now() - interval '31 days' from generate_series(1, $2::int) n`,
      values: [randomUUID(), count],
    });
  const left = async (): Promise<number> =>
    (await harness.database.query({ text: `select from idempotency_keys where created_at < now() - interval '30 days'` })).rowCount;

  test('are deleted however many there are, and counted', async () => {
    await expired(1001);
    expect(await purgeKeys(harness.database)).toBe(1001);
    expect(await left()).toBe(0);
  });

  test('are deleted only up to the batch under way once the service stops', async () => {
    await expired(1001);
    expect(await purgeKeys(harness.database, AbortSignal.abort())).toBe(500);
    expect(await left()).toBe(501);
  });

  test('are deleted when the service starts, which logs their number if there were any', async () => {
    const logged: Record<string, unknown>[] = [];
    const log = createLog('test', 'info', { write: (text) => void logged.push(JSON.parse(text) as Record<string, unknown>) });
    const purge = async (): Promise<void> => {
      const part = keyPurge(harness.database, log);
      await part.start();
      await until('no key to be left', left, (count) => count === 0);
      await part.stop();
    };
    await purgeKeys(harness.database);
    await expired(2);
    await purge();
    expect(logged).toMatchObject([{ level: 'info', purged: 2 }]);
    await purge();
    expect(logged).toHaveLength(1);
  });
});

test('refuses a job class in another group', async () => {
  const { problems } = await crew.company.importLines('job-classes', [{ id: 'INSTALL', name: 'Installation', group: 'SALES', legacy: false }]);
  expect(problems).toMatchObject([{ field: 'group', code: 'INVALID_FORMAT' }]);
});
