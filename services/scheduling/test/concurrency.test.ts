// Concurrent imports and writes of the same visits must store what would be derived now, in any order.
import { randomUUID } from 'node:crypto';
import { ApiError } from '@truckroll/contract';
import { AssignmentCommandServiceService } from '@truckroll/contract/gen/scheduling/v1/assignment_commands';
import { refreshRecords, type Table } from '@truckroll/record-store';
import { jobAppointments } from '../src/resources/job-appointments.ts';
import { jobs } from '../src/resources/jobs.ts';
import { startHarness, type Company, type Harness, type Json } from './harness.ts';
import { assignment, job, location, ref, visit } from './records.ts';

const RUN_MS = 3000;
let harness: Harness;
let company: Company;
beforeAll(async () => {
  harness = await startHarness();
  company = harness.company();
});
afterAll(() => harness.stop());

const any = <T>(of: readonly T[]): T => of[Math.floor(Math.random() * of.length)] as T;

/** Repeats work until the time is over; refusals are expected. Returns the number of successes. */
async function repeatedly(until: number, work: () => Promise<unknown>): Promise<number> {
  let done = 0;
  while (Date.now() < until) {
    try {
      await work();
      done += 1;
    } catch (error) {
      if (!(error instanceof ApiError) || ![404, 409, 503].includes(error.status)) throw error;
    }
  }
  return done;
}

test('stores visits and jobs consistent with their sources after concurrent imports and writes', async () => {
  const at = '2026-03-01T15:00:00Z';
  const crew = ['Ana', 'Ben', 'Cem', 'Dee'].map((name) => ({
    id: randomUUID(),
    name,
    first_name: name,
    last_name: '',
    role: 'TECHNICIAN',
    status: 'ACTIVE',
    assignable: true,
    tags: [],
    created_at: at,
    updated_at: at,
  }));
  const places = [location(), location()];
  const works = places.map(({ id }) => job({ location_id: id }));
  const visits = [0, 1, 2, 3].map((i) => visit({ job_id: works[i % 2]!.id }));
  const parts = [0, 1, 2].map((i) => assignment({ appointment_id: visits[i]!.id, team_member: ref(crew[i]!.id) }));
  for (const [path, records] of [
    ['team-members', crew],
    ['locations', places],
    ['jobs', works],
    ['job-appointments', visits],
    ['job-assignments', parts],
  ] as const) {
    await company.store(path, ...records);
  }

  const commands = harness.channel.client(AssignmentCommandServiceService);
  const caller = { company_id: company.id, user_id: randomUUID(), time_zone: 'America/Chicago' };
  const command = () => ({ caller, idempotency_key: randomUUID(), customer_notification: null });
  const add = async () => {
    const { id, revision, starts_at, ends_at } = await company.detail('job-appointments', any(visits).id);
    const times = { starts_at, ends_at, allow_outside_window: true };
    await commands.addAssignment({ ...command(), appointment_id: id, team_member_id: any(crew).id, expected_revision: revision, ...times });
  };
  const remove = async () => {
    const { assignments, revision } = await company.detail('job-appointments', any(visits).id);
    if (assignments.length > 0) await commands.removeAssignment({ ...command(), id: any<Json>(assignments)['id'], expected_revision: revision });
  };
  const reimport = (path: string, of: readonly Json[], change: () => Json) => () => company.store(path, ...of.map((line) => ({ ...line, ...change() })));
  const until = Date.now() + RUN_MS;
  const writing = Promise.all([add, add, add, remove, remove].map((write) => repeatedly(until, write)));
  const imported = await Promise.all([
    repeatedly(
      until,
      reimport('job-appointments', visits, () => ({ job_id: any(works).id, description: randomUUID(), canceled: Math.random() < 0.2 })),
    ),
    repeatedly(
      until,
      reimport('job-assignments', parts, () => ({ appointment_id: any(visits).id, status: any(['TO_DO', 'CANCELED', 'COMPLETED']) })),
    ),
    repeatedly(
      until,
      reimport('jobs', works, () => ({ location_id: any(places).id, number: randomUUID() })),
    ),
    repeatedly(
      until,
      reimport('locations', places, () => ({ name: randomUUID() })),
    ),
  ]);
  expect(Math.min(...imported)).toBeGreaterThan(0);
  expect(Math.max(...(await writing))).toBeGreaterThan(0);

  await harness.database.transaction(async (tx) => {
    expect(
      await refreshRecords(
        tx,
        jobAppointments,
        company.id,
        visits.map(({ id }) => id),
      ),
    ).toEqual([]);
    expect(
      await refreshRecords(
        tx,
        jobs as Table<any>,
        company.id,
        works.map(({ id }) => id),
      ),
    ).toEqual([]);
  });
  const stored = await company.list('job-appointments');
  const ids = (records: readonly Json[]) => records.map(({ id }) => id).sort();
  for (const { id: member } of crew) {
    const assigned = stored.filter(({ assignments }) => assignments.some(({ team_member }: Json) => team_member.id === member));
    expect(ids(await company.list('job-appointments', { team_member_id: [member] }))).toEqual(ids(assigned));
    expect(ids(await company.list('jobs', { team_member_id: [member] }))).toEqual([...new Set(assigned.map(({ job_id }) => job_id))].sort());
  }
}, 30_000);
