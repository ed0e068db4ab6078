import { randomUUID } from 'node:crypto';
import { parseInstant } from '@truckroll/contract';
import { soon, startHarness, type Company, type Harness } from './harness.ts';
import { account, formResponse, job, lifecycle, lifecycleStatus, location, ref, timeEntry, timesheet, visit, type Line } from './records.ts';

let harness: Harness;
let company: Company;
beforeAll(async () => void (harness = await startHarness()));
beforeEach(() => void (company = harness.company()));
afterAll(() => harness.stop());

const ids = (records: readonly Line[]): string[] => records.map(({ id }) => id);

test('counts a job’s visits that are not canceled and starts with the first of them, also after a visit moves', async () => {
  const [work, other] = [job(), job()];
  const early = visit({ job_id: work.id, starts_at: '2026-03-02T15:00:00.000001Z' });
  const late = visit({ job_id: work.id, starts_at: '2026-03-09T15:00:00Z' });
  const never = visit({ job_id: work.id, starts_at: '2026-03-01T15:00:00Z', canceled: true });
  await company.store('job-appointments', late);
  await company.store('jobs', work, other);
  await company.store('job-appointments', early, never);
  const visits = async (id: string) => {
    const { appointment_count, first_starts_at } = await company.detail('jobs', id);
    return [appointment_count, first_starts_at];
  };
  expect(await visits(work.id)).toEqual([2, parseInstant(early.starts_at)]);
  expect(await visits(other.id)).toEqual([0, null]);
  expect(ids(await company.list('jobs', { starts_before: '2026-03-03' }))).toEqual([work.id]);

  await company.store('job-appointments', { ...early, job_id: other.id });
  expect(await visits(work.id)).toEqual([1, parseInstant(late.starts_at)]);
  expect(await visits(other.id)).toEqual([1, parseInstant(early.starts_at)]);
  await company.store('job-appointments', { ...late, canceled: true });
  expect(await visits(work.id)).toEqual([0, null]);
  expect(ids(await company.list('jobs', { starts_before: '2026-03-03' }))).toEqual([other.id]);
});

test('shows the latest status of jobs and leads once their lifecycle has arrived', async () => {
  const scheduled = lifecycleStatus({ name: 'Booked', stage: 'SCHEDULED', is_work_complete: true, is_lead_won: true });
  const cycle = lifecycle([lifecycleStatus(), scheduled]);
  const followed = { lifecycle: ref(cycle.id), status: { id: scheduled.id, name: 'from the line', stage: 'NEW', is_work_complete: false } };
  const work = job(followed);
  const { is_work_complete: _, ...status } = followed.status;
  const lead: Line = { ...work, id: randomUUID(), status: { ...status, is_lead_won: false }, outcome: 'OPEN' };
  for (const field of ['location_id', 'summary', 'appointment_count', 'first_starts_at']) delete lead[field];
  await company.store('jobs', work);
  await company.store('job-leads', lead);
  expect((await company.detail('jobs', work.id)).status).toMatchObject({ name: 'from the line', stage: 'LIFECYCLE_STAGE_NEW' });

  await company.store('job-lifecycles', cycle);
  const latest = { id: scheduled.id, name: 'Booked', stage: 'LIFECYCLE_STAGE_SCHEDULED' };
  expect((await company.detail('jobs', work.id)).status).toEqual({ ...latest, is_work_complete: true });
  await soon(async () => (await company.detail('jobs', work.id)).lifecycle.name, 'Service');
  expect((await company.detail('job-leads', lead.id)).status).toEqual({ ...latest, is_lead_won: true });
  expect(ids(await company.list('jobs', { stage: ['LIFECYCLE_STAGE_SCHEDULED'] }))).toEqual([work.id]);

  await company.store('job-lifecycles', { ...cycle, statuses: [{ ...scheduled, name: 'On its way', stage: 'IN_PROGRESS', is_work_complete: false }] });
  expect((await company.detail('jobs', work.id)).status).toEqual({
    id: scheduled.id,
    name: 'On its way',
    stage: 'LIFECYCLE_STAGE_IN_PROGRESS',
    is_work_complete: false,
  });
  expect(await company.list('jobs', { stage: ['LIFECYCLE_STAGE_SCHEDULED'] })).toEqual([]);

  const lost = { ...scheduled, name: 'On its way', stage: 'IN_PROGRESS', is_work_complete: false, is_lead_won: false };
  await company.store('job-lifecycles', { ...cycle, statuses: [lost] });
  expect((await company.detail('job-leads', lead.id)).status).toMatchObject({ name: 'On its way', is_lead_won: false });

  await company.store('job-lifecycles', { ...cycle, statuses: [] });
  expect((await company.detail('jobs', work.id)).status).toMatchObject({ name: 'from the line', stage: 'LIFECYCLE_STAGE_NEW' });
});

test('finds form responses by the class of their job', async () => {
  const work = job({ job_class: 'INSTALL' });
  const [first, second] = [formResponse({ job_id: work.id }), formResponse()];
  const found = async (job_class: string) => ids(await company.list('form-responses', { job_class: [job_class] }));
  await company.store('form-responses', first, second);
  expect(await found('JOB_CLASS_INSTALL')).toEqual([]);
  await company.store('jobs', work);
  expect(await found('JOB_CLASS_INSTALL')).toEqual([first.id]);
  await company.store('jobs', { ...work, job_class: 'CALLBACK' });
  expect([await found('JOB_CLASS_INSTALL'), await found('JOB_CLASS_CALLBACK')]).toEqual([[], [first.id]]);
  await company.store('form-responses', { ...second, job_id: work.id }, { ...first, job_id: second.job_id });
  expect(await found('JOB_CLASS_CALLBACK')).toEqual([second.id]);
});

test('finds accounts at the locations that name them', async () => {
  const [one, two] = [account(), account()];
  const at = (...accounts: Line[]) => accounts.map(({ id }) => ({ account: ref(id), archived: false }));
  const [house, shop] = [location({ accounts: at(one, two) }), location({ accounts: at(two) })];
  const found = async (...places: Line[]) => ids(await company.list('accounts', { location_id: places.map(({ id }) => id) })).sort();
  await company.store('locations', house, shop);
  await company.store('accounts', one, two);
  expect(await found(house)).toEqual([one.id, two.id].sort());
  expect(await found(house, shop)).toEqual([one.id, two.id].sort());
  await company.store('locations', { ...house, accounts: at(one) });
  expect([await found(house), await found(shop)]).toEqual([[one.id], [two.id]]);
  await company.store('accounts', { ...one, created_at: '2020-01-01T00:00:00Z' });
  expect(await found(house)).toEqual([one.id]);
});

test('adds up the entries of timesheets: running ones count without minutes, moved ones are removed', async () => {
  const [sheet, other] = [timesheet(), timesheet()];
  const entry = (seconds: number | null, fields: Line = {}) => {
    const ends_at = seconds === null ? null : new Date(Date.UTC(2026, 2, 2, 15) + seconds * 1000).toISOString();
    return timeEntry({ timesheet_id: sheet.id, ends_at, ...fields });
  };
  const [short, long, unpaid, running] = [entry(119), entry(3600), entry(1800, { paid: false }), entry(null)] as const;
  const totals = async (id: string) => {
    const { entry_count, total_minutes, paid_minutes } = await company.detail('timesheets', id);
    return [entry_count, total_minutes, paid_minutes];
  };
  await company.store('time-entries', short, long);
  await company.store('timesheets', sheet, other);
  await company.store('time-entries', unpaid, running);
  expect(await totals(sheet.id)).toEqual([4, 91, 61]);
  expect(await totals(other.id)).toEqual([0, 0, 0]);
  const lasted = await Promise.all([short, long, running].map(async ({ id }) => (await company.detail('time-entries', id)).duration_minutes));
  expect(lasted).toEqual([1, 60, null]);
  await company.store('time-entries', { ...long, timesheet_id: other.id });
  expect([await totals(sheet.id), await totals(other.id)]).toEqual([
    [3, 31, 1],
    [1, 60, 60],
  ]);
  const { problems } = await company.importLines('time-entries', [entry(-1)]);
  expect(problems).toMatchObject([{ line: 1, field: 'ends_at', code: 'RANGE_ORDER' }]);
});
