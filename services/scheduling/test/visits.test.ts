import { randomUUID } from 'node:crypto';
import { soon, startHarness, type Company, type Harness } from './harness.ts';
import { assignment, job, location, ref, teamMember, visit } from './records.ts';

let harness: Harness;
let company: Company;
beforeAll(async () => void (harness = await startHarness()));
beforeEach(() => void (company = harness.company()));
afterAll(() => harness.stop());

test('shows a visit’s job and location from its line until they arrive, and their latest state from then on', async () => {
  const home = location();
  const work = job({ location_id: home.id, business_unit: ref(), job_class: 'WARRANTY' });
  const first = visit({ job_id: work.id });
  await company.store('job-appointments', first);
  expect((await company.detail('job-appointments', first.id)).job).toMatchObject({
    id: work.id,
    number: 'from the line',
    location: { id: first.job.location.id, address: 'from the line' },
  });

  await company.store('jobs', work);
  expect((await company.detail('job-appointments', first.id)).job).toMatchObject({
    id: work.id,
    number: 'J-1',
    summary: 'AC not cooling',
    account: work.account,
    business_unit: work.business_unit,
    job_class: 'JOB_CLASS_WARRANTY',
    location: { id: home.id, name: '', address: '' },
  });

  await company.store('locations', home);
  const arrived = { id: home.id, name: 'Whitfield home', address: home.address.formatted, latitude: 30.2747, longitude: -97.7404 };
  expect((await company.detail('job-appointments', first.id)).job.location).toEqual(arrived);

  const elsewhere = location({ name: 'Lake house', latitude: null, longitude: null });
  await company.store('locations', elsewhere);
  await company.store('jobs', { ...work, location_id: elsewhere.id, summary: null });
  const moved = (await company.detail('job-appointments', first.id)).job;
  expect(moved).toMatchObject({ location: { id: elsewhere.id, name: 'Lake house' } });
  expect([moved.summary, moved.location.latitude]).toEqual([null, null]);
  await company.store('locations', { ...elsewhere, name: 'Boat house' });
  expect((await company.detail('job-appointments', first.id)).job.location.name).toBe('Boat house');
});

test('filters visits by their job’s fields', async () => {
  const home = location();
  const work = job({ location_id: home.id, business_unit: ref(), job_type: ref() });
  const first = visit({ job_id: work.id });
  await company.store('job-appointments', first, visit());
  const filters = () => [
    { account_id: [work.account.id] },
    { location_id: [home.id] },
    { business_unit_id: [work.business_unit.id] },
    { job_type_id: [work.job_type.id] },
  ];
  for (const filter of filters()) expect(await company.list('job-appointments', filter)).toEqual([]);
  expect(await company.list('job-appointments', { account_id: [first.job.account.id] })).toHaveLength(1);
  await company.store('jobs', work);
  for (const filter of filters()) expect((await company.list('job-appointments', filter)).map(({ id }) => id)).toEqual([first.id]);
  expect(await company.list('job-appointments', { account_id: [first.job.account.id] })).toEqual([]);
});

test('shows assignments on their visit in the order of their start, and no longer after they move to another', async () => {
  const [one, other] = [visit(), visit()];
  const late = assignment({ appointment_id: one.id, starts_at: '2026-03-02T15:30:00Z' });
  const early = assignment({ appointment_id: one.id, starts_at: '2026-03-02T15:00:00Z', status: 'COMPLETED' });
  await company.store('job-assignments', late, early);
  await company.store('job-appointments', one, other);
  const shown = async (id: string) => {
    const { assignments, dispatch_status } = await company.detail('job-appointments', id);
    return [assignments.map((each: { id: string }) => each.id), dispatch_status];
  };
  expect(await shown(one.id)).toEqual([[early.id, late.id], 'DISPATCH_STATUS_DISPATCHED']);
  expect(await shown(other.id)).toEqual([[], 'DISPATCH_STATUS_UNASSIGNED']);

  const before = await company.detail('job-appointments', one.id);
  await company.store('job-assignments', { ...late, appointment_id: other.id });
  expect(await shown(one.id)).toEqual([[early.id], 'DISPATCH_STATUS_COMPLETED']);
  expect(await shown(other.id)).toEqual([[late.id], 'DISPATCH_STATUS_ASSIGNED']);
  expect((await company.detail('job-appointments', one.id)).revision).not.toBe(before.revision);
  expect((await company.list('job-appointments', { dispatch_status: ['DISPATCH_STATUS_ASSIGNED'] })).map(({ id }) => id)).toEqual([other.id]);
});

test('finds the visits and jobs of all assignments of a technician, including canceled ones, but not those of a moved one', async () => {
  const work = [job(), job()] as const;
  const visits = [visit({ job_id: work[0].id }), visit({ job_id: work[0].id, canceled: true }), visit({ job_id: work[1].id })] as const;
  const dana = ref(randomUUID(), 'Dana');
  const part = (of: number, status = 'TO_DO') => assignment({ appointment_id: visits[of]!.id, team_member: dana, status });
  const parts = [part(0), part(1, 'CANCELED'), part(2)] as const;
  await company.store('job-assignments', ...parts);
  await company.store('jobs', ...work);
  await company.store('job-appointments', ...visits);
  const found = async (path: string) => (await company.list(path, { team_member_id: [dana.id] })).map(({ id }) => id).sort();
  expect(await found('job-appointments')).toEqual(visits.map(({ id }) => id).sort());
  expect(await found('jobs')).toEqual(work.map(({ id }) => id).sort());

  await company.store('job-assignments', { ...parts[2], appointment_id: visits[0].id });
  expect(await found('job-appointments')).toEqual([visits[0].id, visits[1].id].sort());
  expect(await found('jobs')).toEqual([work[0].id]);
  await company.store('job-appointments', { ...visits[0], job_id: work[1].id }, { ...visits[1], job_id: work[1].id });
  expect(await found('jobs')).toEqual([work[1].id]);
});

test('changes a revision exactly when the visit or its assignments change', async () => {
  const work = job();
  const first = visit({ job_id: work.id });
  const part = assignment({ appointment_id: first.id });
  await company.store('job-appointments', first);
  const revision = async () => (await company.detail('job-appointments', first.id)).revision as string;
  const seen = [await revision()];
  await company.store('job-assignments', part);
  seen.push(await revision());
  await company.store('job-assignments', { ...part, status: 'EN_ROUTE' });
  seen.push(await revision());
  await company.store('job-appointments', { ...first, description: 'Bring a ladder' });
  seen.push(await revision());
  expect(new Set(seen).size).toBe(4);

  await company.store('jobs', work);
  await company.store('team-members', teamMember({ id: part.team_member.id }));
  await soon(async () => (await company.detail('job-appointments', first.id)).assignments[0].team_member.name, 'Dana Whitfield');
  expect(await revision()).toBe(seen[3]);

  const copy = harness.company();
  await copy.store('job-assignments', { ...part, status: 'EN_ROUTE' });
  await copy.store('job-appointments', { ...first, description: 'Bring a ladder' });
  expect((await copy.detail('job-appointments', first.id)).revision).toBe(seen[3]);
});
