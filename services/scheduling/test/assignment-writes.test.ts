// What the two writes leave in the service's tables: idempotency keys, events in order, and exactly what an import would derive.
import { randomUUID } from 'node:crypto';
import { codec, topics } from '@truckroll/contract';
import { AuditEntry } from '@truckroll/contract/gen/events/v1/audit';
import { VisitAssignmentChanged } from '@truckroll/contract/gen/events/v1/visit_events';
import { AddAssignmentRequest, AddAssignmentResponse, type RemoveAssignmentRequest } from '@truckroll/contract/gen/scheduling/v1/assignment_commands';
import type { Visit } from '@truckroll/contract/gen/scheduling/v1/job_appointments';
import { Assignment } from '@truckroll/contract/gen/scheduling/v1/job_assignments';
import type { Transaction } from '@truckroll/postgres';
import { refreshRecords } from '@truckroll/record-store';
import { fingerprintOf, purgeKeys, waitForKey } from '../src/assignments/idempotency.ts';
import { refreshJobTeams, refreshVisitTeams } from '../src/resources/links.ts';
import { jobAppointments } from '../src/resources/job-appointments.ts';
import { startHarness, type Company, type Harness } from './harness.ts';
import * as line from './records.ts';

let harness: Harness;
let company: Company;
const userId = randomUUID();
const job = line.job();
const members = Array.from({ length: 5 }, (_, i) => ({
  id: randomUUID(),
  name: `Member ${i}`,
  first_name: 'Member',
  last_name: String(i),
  role: 'TECHNICIAN',
  status: 'ACTIVE',
  assignable: true,
  tags: [],
  created_at: '2026-03-01T15:00:00Z',
  updated_at: '2026-03-01T15:00:00Z',
}));

beforeAll(async () => {
  harness = await startHarness();
  company = harness.company();
  await company.store('team-members', ...members);
  await company.store('jobs', job);
}, 60_000);
afterAll(() => harness.stop());

const caller = () => ({ company_id: company.id, time_zone: 'America/Chicago', user_id: userId });

async function newVisit(): Promise<Visit> {
  const visit = line.visit({ job_id: job['id'] });
  await company.store('job-appointments', visit);
  return company.detail('job-appointments', visit['id']);
}

function addition(visit: Visit, member = 0): AddAssignmentRequest {
  return {
    caller: caller(),
    idempotency_key: randomUUID(),
    expected_revision: visit.revision,
    appointment_id: visit.id,
    team_member_id: members[member]!.id,
    starts_at: visit.window_start_at,
    ends_at: visit.window_end_at,
    allow_outside_window: false,
    customer_notification: null,
  };
}

async function write(rpc: 'AddAssignment' | 'RemoveAssignment', request: AddAssignmentRequest | RemoveAssignmentRequest): Promise<Visit> {
  const { encode } = codec(`truckroll.scheduling.v1.${rpc}Request`);
  const path = `/truckroll.scheduling.v1.AssignmentCommandService/${rpc}`;
  return AddAssignmentResponse.decode(await harness.channel.call(path, Buffer.from(encode(request).finish()))).data as Visit;
}

const add = (visit: Visit, member = 0): Promise<Visit> => write('AddAssignment', addition(visit, member));
const remove = (visit: Visit, index = 0, more: Pick<RemoveAssignmentRequest, 'caller'> = { caller: caller() }): Promise<Visit> =>
  write('RemoveAssignment', {
    ...more,
    idempotency_key: randomUUID(),
    id: visit.assignments[index]!.id,
    expected_revision: visit.revision,
    customer_notification: null,
  });

test('refuses to remove a locked assignment for its status, whatever revision is sent, and another for a stale revision', async () => {
  const stale = async (status: string): Promise<Visit> => {
    const { id } = await newVisit();
    await company.store('job-assignments', line.assignment({ job_id: job['id'], appointment_id: id, team_member: line.ref(members[0]!.id), status }));
    return { ...(await company.detail('job-appointments', id)), revision: 'd'.repeat(64) };
  };
  await expect(remove(await stale('EN_ROUTE'))).rejects.toMatchObject({ status: 409, code: 'ASSIGNMENT_LOCKED' });
  await expect(remove(await stale('TO_DO'))).rejects.toMatchObject({ status: 409, code: 'STALE_REVISION' });
});

test('stores what an import would derive, byte for byte', async () => {
  let one = await newVisit();
  let other = await newVisit();
  for (const member of [0, 1, 2]) one = await add(one, member);
  for (const member of [1, 3]) other = await add(other, member);
  // Assignments of one time are in the order of their random ids.
  const ofSecond = one.assignments.findIndex(({ team_member }) => team_member?.id === members[1]!.id);
  one = await remove(one, ofSecond);
  other = await remove(other, 0);
  // An imported visit may have a technician twice: removing one assignment keeps the link.
  const twice = { job_id: job['id'], appointment_id: one.id, team_member: line.ref(members[0]!.id), status: 'CANCELED' };
  await company.store('job-assignments', line.assignment(twice));
  one = await company.detail('job-appointments', one.id);
  const ofFirst = one.assignments.flatMap(({ team_member }, index) => (team_member?.id === members[0]!.id ? [index] : []));
  expect(ofFirst).toHaveLength(2);
  one = await remove(one, ofFirst[0]);
  const links = async (): Promise<unknown[]> => {
    const { rows } = await harness.database.query({
      text: `select 'visit' as of, id, value, created_at from job_appointment_team_members where company_id = $1
        union all select 'job', id, value, created_at from job_team_members where company_id = $1 order by 1, 2, 3`,
      values: [company.id],
    });
    return rows;
  };
  const before = await links();
  await harness.database.transaction(async (tx) => {
    expect(await refreshRecords(tx, jobAppointments, company.id, [one.id, other.id])).toEqual([]);
    await refreshVisitTeams(tx, company.id, [one.id, other.id]);
    await refreshJobTeams(tx, company.id, [job['id']]);
  });
  expect(await links()).toEqual(before);
  expect(before.length).toBeGreaterThan(4);
});

test('finds a job by the technician of its canceled visit, also after a removal from another visit', async () => {
  const [one, canceled] = [await add(await newVisit(), 4), await add(await newVisit(), 4)];
  await company.store('job-appointments', line.visit({ id: canceled.id, job_id: job['id'], canceled: true }));
  await remove(one);
  expect((await company.list('jobs', { team_member_id: [members[4]!.id] })).map(({ id }) => id)).toEqual([job['id']]);
});

test('stores the audit entry of an import and of a write in their transaction', async () => {
  const isTogether = async ({ id }: Visit): Promise<boolean | undefined> => {
    const { rows } = await harness.database.query<{ together: boolean }>({
      text: `select o.xmin::text = v.xmin::text as together from outbox o join job_appointments v on v.company_id = o.company_id and v.id = $2
        where o.company_id = $1 and o.topic = $3 order by o.id desc limit 1`,
      values: [company.id, id, topics.schedulingAudit.name],
    });
    return rows[0]?.together;
  };
  const imported = await newVisit();
  expect(await isTogether(imported)).toBe(true);
  const added = await add(imported);
  expect(await isTogether(added)).toBe(true);
  await remove(added);
  expect(await isTogether(added)).toBe(true);
});

test('adds at most 7 KB to the audit trail with a write, however long the technician’s name is', async () => {
  // Control characters are the longest in JSON.
  const technician = { ...members[0], id: randomUUID(), name: '\u0001'.repeat(20_000) };
  await company.store('team-members', technician);
  const { id } = await newVisit();
  const imported = { team_member: { id: technician.id, name: technician.name } };
  await company.store('job-assignments', line.assignment({ job_id: job['id'], appointment_id: id, ...imported }));
  const keyOf = { caller: { ...caller(), key_id: randomUUID(), address: 'f'.repeat(45) } };
  const visit = await remove(await company.detail('job-appointments', id), 0, keyOf);
  await write('AddAssignment', { ...addition(visit), ...keyOf, team_member_id: technician.id });
  const { rows } = await harness.database.query<{ payload: Buffer }>({
    text: 'select payload from outbox where company_id = $1 and topic = $2 order by id desc limit 2',
    values: [company.id, topics.schedulingAudit.name],
  });
  const entries = rows.map(({ payload }) => AuditEntry.decode(payload));
  expect(entries.map(({ action }) => action)).toEqual(['assignment.added', 'assignment.removed']);
  for (const { before, after } of entries) expect(500 + Buffer.byteLength(before ?? after ?? '')).toBeLessThanOrEqual(7000);
});

test('publishes every write in the order of the visit’s sequence, and the assignment’s own state with it', async () => {
  let visit = await newVisit();
  visit = await add(visit, 0);
  const first = visit.assignments[0]!;
  visit = await add(visit, 1);
  visit = await remove(
    visit,
    visit.assignments.findIndex(({ id }) => id === first.id),
  );
  const { rows } = await harness.database.query<{ topic: string; key: string; type: string; sequence: number | null; payload: Buffer | null }>({
    text: `select topic, key, type, sequence, payload from outbox where company_id = $1 and (key = $2 or key = $3) order by id`,
    values: [company.id, `${company.id}/${visit.id}`, `${company.id}/${first.id}`],
  });
  expect(rows.map(({ topic, type, sequence }) => [topic.split('.').at(-1), type, sequence])).toEqual([
    ['events', 'visit.assignment_added', 1],
    ['assignments', 'assignment.changed', null],
    ['events', 'visit.assignment_added', 2],
    ['events', 'visit.assignment_removed', 3],
    ['assignments', 'assignment.removed', null],
  ]);
  expect(Assignment.decode(rows[1]!.payload!)).toEqual(first);
  expect(rows[4]!.payload).toBeNull();
  expect(VisitAssignmentChanged.decode(rows[3]!.payload!)).toMatchObject({ visit_id: visit.id, assignment: first, revision: visit.revision });
});

/** Stores a key first, as scheduling of the previous release does: it waits for no lock, and takes none. */
const claimed = (tx: Transaction, { idempotency_key }: AddAssignmentRequest) =>
  tx.query({
    text: `insert into idempotency_keys (company_id, user_id, key, fingerprint) values ($1, $2, $3, '')`,
    values: [company.id, userId, idempotency_key],
  });

const fingerprint = (request: AddAssignmentRequest): Buffer =>
  fingerprintOf('AddAssignment', AddAssignmentRequest.encode({ ...request, caller: null, idempotency_key: '' }).finish());

test('gives equal messages of different operations different fingerprints', async () => {
  const message = AddAssignmentRequest.encode(addition(await newVisit())).finish();
  expect(fingerprintOf('AddAssignment', message)).toEqual(fingerprintOf('AddAssignment', message));
  expect(fingerprintOf('AddAssignment', message)).not.toEqual(fingerprintOf('RemoveAssignment', message));
});

async function awaited(tx: Transaction): Promise<void> {
  for (let blocked = 0; blocked === 0; ) {
    const { rows } = await tx.query<{ blocked: number }>({ text: `select count(*) as blocked from pg_locks where not granted and locktype = 'transactionid'` });
    blocked = rows[0]!.blocked;
  }
}

test('answers 409 with Retry-After if another request holds the key for longer than the maximum wait', async () => {
  const request = addition(await newVisit());
  const key = { companyId: company.id, userId, key: request.idempotency_key, fingerprint: fingerprint(request) };
  await harness.database.transaction(async (tx) => {
    await waitForKey(tx, key);
    await expect(write('AddAssignment', request)).rejects.toMatchObject({ code: 'IDEMPOTENCY_IN_PROGRESS', status: 409, retryAfterSeconds: 1 });
  });
  expect((await write('AddAssignment', request)).assignments).toHaveLength(1);
});

test('continues with its own write when a request of the previous release with the same key is rolled back', async () => {
  const request = addition(await newVisit());
  let waiting: Promise<Visit> | undefined;
  const undone = harness.database.transaction(async (tx) => {
    await claimed(tx, request);
    waiting = write('AddAssignment', request);
    await awaited(tx);
    throw new Error('undone');
  });
  await expect(undone).rejects.toThrow('undone');
  expect((await waiting)?.assignments).toHaveLength(1);
});

test('rolls its own write back and repeats the answer when a request of the previous release with the same key commits', async () => {
  const request = addition(await newVisit());
  let waiting: Promise<Visit> | undefined;
  await harness.database.transaction(async (tx) => {
    await claimed(tx, request);
    waiting = write('AddAssignment', request);
    await awaited(tx);
    await tx.query({
      text: `update idempotency_keys set fingerprint = $2, status = 201, response = $3 where key = $1`,
      values: [request.idempotency_key, fingerprint(request), Buffer.of(0x0a, 0x00)],
    });
  });
  expect(await waiting).toMatchObject({ assignments: [] });
  expect((await company.detail('job-appointments', request.appointment_id)).assignments).toEqual([]);
});

test('forgets keys after 30 days: the purge deletes them, and an expired key counts as absent even before that', async () => {
  const age = (days: number, key: string) =>
    harness.database.query({ text: `update idempotency_keys set created_at = now() - make_interval(days => $2) where key = $1`, values: [key, days] });
  const [kept, expired, reused] = await Promise.all([newVisit(), newVisit(), newVisit()]).then((visits) => visits.map((visit) => addition(visit)));
  for (const request of [kept, expired, reused]) await write('AddAssignment', request!);
  await age(29, kept!.idempotency_key);
  await age(31, expired!.idempotency_key);
  await age(31, reused!.idempotency_key);
  const fresh = { ...addition(await newVisit()), idempotency_key: reused!.idempotency_key };
  expect((await write('AddAssignment', fresh)).id).toBe(fresh.appointment_id);
  await harness.database.transaction(async (tx) => {
    await tx.query({ text: `select from idempotency_keys where key = $1 for update`, values: [expired!.idempotency_key] });
    expect(await purgeKeys(harness.database)).toBe(0);
  });
  expect(await purgeKeys(harness.database)).toBe(1);
  expect((await write('AddAssignment', kept!)).id).toBe(kept!.appointment_id);
});

test('leaves only records that an import would accept', async () => {
  const { count, broken } = await company.checked();
  expect(count).toBeGreaterThan(0);
  expect(broken).toEqual([]);
});
